/* The part of dlfcn.h that clinfo uses, for MinGW. */
#include <windows.h>
#define dlsym(module, name) GetProcAddress(GetModuleHandleA("OpenCL"), name)
