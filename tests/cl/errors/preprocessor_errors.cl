// Directives that end badly.
#include "no/such/file.h"       // error: file not found
