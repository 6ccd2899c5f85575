// Malformed directives.
#include "no/such/file.h"       // error: file not found
