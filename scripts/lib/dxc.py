"""Microsoft's HLSL compiler, through its library `libdxcompiler.so`, which has a COM-like interface (dxcapi.h, WinAdapter.h)."""

import ctypes
import os
import struct
import uuid

COMPILER_CLASS = "73e22d93-e6ce-47f3-b5bf-f0664f39c1b0"
COMPILER = "228B4687-5A6A-4730-900C-9702B2203F54"
RESULT = "58346CDA-DDE7-4497-9461-6F87AF5E0659"
UTF8 = 65001
# Indices of functions in the virtual function table of IUnknown. The table has three functions, or five if the library was built with a virtual destructor.
# VERSIONS are the possible numbers.
QUERY, RELEASE = 0, 2
VERSIONS = (5, 3)


def _id(text):
    return ctypes.create_string_buffer(uuid.UUID(text).bytes_le, 16)


def _call(interface, index, result, *arguments):
    table = ctypes.cast(interface, ctypes.POINTER(ctypes.POINTER(ctypes.c_void_p)))[0]
    types = [ctypes.c_void_p if isinstance(value, (ctypes.Array, ctypes.c_void_p)) or value is None else type(value) for value in arguments]
    return ctypes.CFUNCTYPE(result, ctypes.c_void_p, *types)(table[index])(interface, *arguments)


class Compiler:
    """A compiler that only one thread may use. `path` is the library's path, and `base` the number of functions of its IUnknown (see VERSIONS)."""

    def __init__(self, path, base=VERSIONS[0]):
        self.library = ctypes.CDLL(path)
        self.base = base
        self.interface = ctypes.c_void_p()
        status = self.library.DxcCreateInstance(_id(COMPILER_CLASS), _id(COMPILER), ctypes.byref(self.interface))
        if status != 0:
            raise OSError(f"DxcCreateInstance: {status & 0xFFFFFFFF:#x}")

    def _text(self, blob):
        size = _call(blob, self.base + 1, ctypes.c_size_t)
        return ctypes.string_at(_call(blob, self.base, ctypes.c_void_p), size)

    def compile(self, source, *options):
        """Compiles a source (str) with options of `dxc`. Returns the object (bytes, empty on failure) and the messages (str)."""
        data = source.encode()
        buffer = ctypes.create_string_buffer(data, len(data))
        described = ctypes.create_string_buffer(struct.pack("PNI4x", ctypes.addressof(buffer), len(data), UTF8))
        words = (ctypes.c_wchar_p * len(options))(*options)
        result = ctypes.c_void_p()
        status = _call(
            self.interface, self.base, ctypes.c_int32, described, words, ctypes.c_uint32(len(options)), None, _id(RESULT),
            ctypes.cast(ctypes.byref(result), ctypes.c_void_p),
        )
        if status != 0:
            return b"", f"IDxcCompiler::Compile failed with {status & 0xFFFFFFFF:#x}"
        done, object_, messages = ctypes.c_int32(), ctypes.c_void_p(), ctypes.c_void_p()
        _call(result, self.base, ctypes.c_int32, ctypes.cast(ctypes.byref(done), ctypes.c_void_p))
        _call(result, self.base + 1, ctypes.c_int32, ctypes.cast(ctypes.byref(object_), ctypes.c_void_p))
        _call(result, self.base + 2, ctypes.c_int32, ctypes.cast(ctypes.byref(messages), ctypes.c_void_p))
        dxil = self._text(object_) if object_ and done.value == 0 else b""
        text = self._text(messages).rstrip(b"\0").decode(errors="replace") if messages else ""
        for interface in (object_, messages, result):
            if interface:
                _call(interface, RELEASE, ctypes.c_uint32)
        return dxil, text

    def works(self):
        """Whether `base` is correct. The check runs in a child process, because a wrong index calls an arbitrary function."""
        child = os.fork()
        if child == 0:
            try:
                dxil, _ = self.compile("[numthreads(1, 1, 1)] void main() {}", "-T", "cs_6_0", "-E", "main")
                os._exit(0 if dxil else 1)
            finally:
                os._exit(2)
        return os.waitpid(child, 0)[1] == 0
