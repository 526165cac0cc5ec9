# Where in svg, math and template a page is, header only: as much of the tree builder's stack as
# changes how tags are read.
#
# Invariant: `depth` contexts stand in `items`, `lost` more were opened inside the last of them and
# are counted only; `templates` of those in `items` are templates.

from libc.stdint cimport uint8_t, uint16_t, uint32_t

from htmltag cimport (
    ROLE_BR, ROLE_P, ROLE_SVG, ROLE_TEMPLATE, ROLE_TITLE, html_elements,
)

cdef enum:
    CONTEXTS = 64

    IN_TEMPLATE = 0
    IN_SVG = 1
    IN_MATH = 2
    IN_POINT = 3  # HTML inside svg or math


cdef struct Context:
    uint16_t name  # index of the element
    uint8_t kind  # IN_*


cdef struct Contexts:
    Context items[CONTEXTS]
    int depth
    uint32_t lost
    int templates


cdef inline bint in_html(const Contexts *stack) noexcept nogil:
    """Whether a start tag here makes an HTML element."""
    cdef uint8_t kind
    if stack.depth == 0:
        return True
    kind = stack.items[stack.depth - 1].kind
    return kind == IN_TEMPLATE or kind == IN_POINT


cdef inline void push(Contexts *stack, uint16_t index, uint8_t kind) noexcept nogil:
    if stack.depth == CONTEXTS:
        stack.lost += 1
        return
    stack.items[stack.depth].name = index
    stack.items[stack.depth].kind = kind
    stack.depth += 1
    stack.templates += kind == IN_TEMPLATE


cdef inline void pop_to(Contexts *stack, int depth) noexcept nogil:
    while stack.depth > depth:
        stack.depth -= 1
        stack.templates -= stack.items[stack.depth].kind == IN_TEMPLATE
    stack.lost = 0


cdef inline void break_out(Contexts *stack) noexcept nogil:
    """Close svg and math up to the HTML around them."""
    while not in_html(stack):
        pop_to(stack, stack.depth - 1)


cdef inline void end_context(Contexts *stack, uint16_t index) noexcept nogil:
    """Take an end tag while the stack is not empty."""
    cdef uint8_t role = html_elements[index].role
    cdef int i = stack.depth
    if role == ROLE_P or role == ROLE_BR:
        break_out(stack)
        return
    if role < ROLE_SVG and role != ROLE_TEMPLATE and role != ROLE_TITLE:
        return
    if stack.lost:
        stack.lost -= 1
        return
    while i > 0:
        i -= 1
        if stack.items[i].name == index:
            pop_to(stack, i)
            return
        if stack.items[i].kind == IN_TEMPLATE and role != ROLE_TEMPLATE:
            return
