// A d3d12.dll for Wine that uses Debian's libvkd3d (core.c), for shader model 6. Wine's own d3d12.dll supports shader
// model 5.1 only. The objects of libvkd3d have the calling convention of Windows, so programs can call them directly.

#define COBJMACROS
#include <stdlib.h>
#include <windows.h>
#include <unknwn.h>

typedef HRESULT (*signal_function)(HANDLE);
typedef void *(*thread_function)(void *);
typedef void *(*create_function)(thread_function, void *);
typedef HRESULT (*join_function)(void *);

HRESULT core_create_device(unsigned, const void *, void **, signal_function, create_function, join_function);
HRESULT core_serialize(const void *, unsigned, void **, void **);
HRESULT core_serialize_versioned(const void *, void **, void **);

static HRESULT signal_event(HANDLE event) { return SetEvent(event) ? S_OK : E_FAIL; }

struct start {
    thread_function main;
    void *data;
};

static DWORD WINAPI thread_main(void *argument)
{
    struct start start = *(struct start *)argument;
    free(argument);
    start.main(start.data);
    return 0;
}

// The threads of libvkd3d call SetEvent, so they must be threads of Windows.
static void *create_thread(thread_function main, void *data)
{
    struct start *start = malloc(sizeof *start);
    start->main = main;
    start->data = data;
    return CreateThread(NULL, 0, thread_main, start, 0, NULL);
}

static HRESULT join_thread(void *thread)
{
    WaitForSingleObject(thread, INFINITE);
    CloseHandle(thread);
    return S_OK;
}

HRESULT WINAPI D3D12CreateDevice(IUnknown *adapter, unsigned level, REFIID iid, void **device)
{
    IUnknown *probe;
    HRESULT result = core_create_device(level, iid, device ? device : (void **)&probe, signal_event, create_thread, join_thread);
    // Without a place for the device, the call only asks whether the device can be created.
    if (device || FAILED(result)) return result;
    IUnknown_Release(probe);
    return S_FALSE;
}

HRESULT WINAPI D3D12GetDebugInterface(REFIID iid, void **object)
{
    if (object) *object = NULL;
    return E_NOTIMPL;
}

HRESULT WINAPI D3D12EnableExperimentalFeatures(UINT count, void *iids, void *structures, void *sizes) { return E_NOINTERFACE; }

HRESULT WINAPI D3D12SerializeRootSignature(const void *desc, unsigned version, void **blob, void **error)
{
    return core_serialize(desc, version, blob, error);
}

HRESULT WINAPI D3D12SerializeVersionedRootSignature(const void *desc, void **blob, void **error)
{
    return core_serialize_versioned(desc, blob, error);
}
