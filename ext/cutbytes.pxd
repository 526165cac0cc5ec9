# Bytes objects made as long as they may have to be, filled, and cut behind what they hold, so that
# nothing is copied from a buffer into them.

cdef extern from *:
    """
    /* A macro, for the object may move: `made` is a local variable, and nothing else has it. */
    #define cut_bytes(made, size) _PyBytes_Resize(&(made), size)
    """
    int cut "cut_bytes" (bytes made, Py_ssize_t size) except -1
