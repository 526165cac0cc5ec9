# What ``ext/linkscan.pyx`` does for other kernels.

from libc.stdint cimport uint8_t

from htmlpage cimport Page


cdef void scan_into(Page *page, const uint8_t *html, size_t size) noexcept nogil
