# The shared layouts and hashes of layout.h and siphash.h, for `cimport layout`: declarations only.

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t


cdef extern from "layout.h" nogil:
    ctypedef struct found_link:
        uint8_t element
        uint8_t attribute
        uint8_t rel
        uint8_t reserved
        uint32_t value_len

    ctypedef struct resolved_link:
        uint8_t status
        uint8_t https
        uint8_t element
        uint8_t rel
        uint8_t host_start
        uint8_t host_len
        uint16_t port
        uint32_t url_len

    ctypedef struct link_group:
        uint16_t via_len
        uint16_t tag_len
        uint32_t links
        uint32_t links_bytes

    ctypedef struct link_entry:
        uint64_t fingerprint
        uint16_t url_len
        uint16_t depth
        uint16_t left
        uint16_t port
        uint8_t host_start
        uint8_t host_len
        uint8_t level
        uint8_t kind
        uint8_t hops
        uint8_t flags
        uint16_t reserved
        float score
        float relevance

    ctypedef struct record_head:
        uint32_t crc
        uint32_t len
        uint8_t type
        uint8_t flags
        uint16_t reserved
        uint64_t lsn

    ctypedef struct enq_payload:
        uint64_t fingerprint
        uint16_t depth
        uint16_t left
        uint16_t port
        uint8_t host_start
        uint8_t host_len
        uint8_t level
        uint8_t kind
        uint8_t hops
        uint8_t attempts
        uint8_t flags
        uint8_t reserved[3]
        float score
        float relevance
        uint16_t url_len
        uint16_t via_shared
        uint16_t via_rest
        uint16_t tag_len

    ctypedef struct move_payload:
        uint64_t id_lsn
        enq_payload enq

    enum:
        RESOLVED_OK, RESOLVED_INVALID, RESOLVED_SCHEME, RESOLVED_SLOW, RESOLVED_EMPTY
        RESOLVED_TOO_LONG
        KIND_PAGE, KIND_ROBOTS, KIND_SITEMAP
        LINK_HTTPS, LINK_SEED, LINK_REDIRECT, LINK_FORCE
        REL_NOFOLLOW, REL_UGC, REL_SPONSORED, REL_CANONICAL, REL_STYLESHEET, REL_DOCUMENT
        RECORD_ENQ, RECORD_DONE, RECORD_RETRY, RECORD_MOVE
        RECORD_COUNTS, RECORD_HOST, RECORD_SYNCMARK, RECORD_SEAL
        ELEMENT_OTHER, ELEMENT_A, ELEMENT_AREA, ELEMENT_LINK, ELEMENT_BASE
        ELEMENT_FRAME, ELEMENT_IFRAME, ELEMENT_IMG, ELEMENT_SCRIPT, ELEMENT_SOURCE
        ELEMENT_META, ELEMENT_REDIRECT, ELEMENT_SEED, ELEMENT_EMBED, ELEMENT_OBJECT
        ELEMENT_VIDEO, ELEMENT_AUDIO, ELEMENT_TRACK, ELEMENT_FORM, ELEMENT_STYLE, ELEMENT_MEDIA
        ATTRIBUTE_HREF, ATTRIBUTE_SRC, ATTRIBUTE_SRCSET, ATTRIBUTE_CONTENT
        ATTRIBUTE_DATA, ATTRIBUTE_POSTER, ATTRIBUTE_ACTION, ATTRIBUTE_STYLE


cdef extern from "siphash.h" nogil:
    uint64_t siphash13(const uint8_t *key, const uint8_t *data, size_t size)
    uint64_t fingerprint(uint64_t domain_hash, uint64_t url_hash)
    uint32_t shard_of(uint64_t fp, uint32_t shards)
