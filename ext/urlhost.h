/* Hosts by the URL standard: domains, IPv4 in all its spellings, IPv6.
 *
 * A domain of ASCII is lower-cased and checked, nothing more: the standard leaves Punycode alone
 * that does not decode.  A domain with other bytes in it is left to the caller (RESOLVED_SLOW).
 */
#ifndef LARBINPY_URLHOST_H
#define LARBINPY_URLHOST_H

#include "layout.h"
#include "urlbytes.h"

enum {
    MAX_HOST_BYTES = 253, /* of DNS; records.py has it too */
    MAX_LABEL_BYTES = 63,
    IPV4_PARTS = 4,
    IPV6_PIECES = 8,
    IPV6_TEXT_BYTES = 48 /* more than the longest that is written, brackets included */
};

#define IPV4_TOO_BIG (1ULL << 40) /* larger numbers are all alike */

/* --- IPv4 ------------------------------------------------------------------------------------------ */

/* A number in decimal, octal (0...) or hexadecimal (0x...); -1 when it is none. */
static int64_t ipv4_number(const uint8_t *p, const uint8_t *end) {
    int radix = 10;
    uint64_t value = 0;
    if (p == end) return -1;
    if (end - p >= 2 && p[0] == '0') {
        radix = (p[1] | 0x20) == 'x' ? 16 : 8;
        p += radix == 16 ? 2 : 1;
    }
    for (; p < end; p++) {
        int digit = hex_value(*p);
        if (digit < 0 || digit >= radix) return -1;
        value = value * (uint64_t)radix + (uint64_t)digit;
        if (value > IPV4_TOO_BIG) value = IPV4_TOO_BIG;
    }
    return (int64_t)value;
}

/* Whether a host must be an IPv4 address: its last label is all digits or a number. */
static int ends_in_number(const uint8_t *host, size_t size) {
    const uint8_t *end = host + size, *label;
    if (size > 0 && end[-1] == '.') end--;
    for (label = end; label > host && label[-1] != '.';) label--;
    if (label == end || *label < '0' || *label > '9') return 0;
    if (ipv4_number(label, end) >= 0) return 1;
    while (label < end && *label >= '0' && *label <= '9') label++;
    return label == end;
}

/* The address of a host that ends in a number; -1 when it has none. */
static int64_t ipv4_parse(const uint8_t *host, size_t size) {
    const uint8_t *end = host + size, *p = host, *dot;
    int64_t address = 0;
    if (size > 0 && end[-1] == '.') end--;
    for (int part = 0; part < IPV4_PARTS; part++, p = dot + 1) {
        for (dot = p; dot < end && *dot != '.';) dot++;
        int64_t number = ipv4_number(p, dot);
        int free_bytes = IPV4_PARTS - part; /* the last part fills what is left */
        if (number < 0) return -1;
        if (dot == end)
            return number >> (8 * free_bytes) ? -1 : address + number;
        if (number > 255) return -1;
        address |= number << (8 * (free_bytes - 1));
    }
    return -1;
}

static void ipv4_write(url_out *out, uint32_t address) {
    for (int shift = 24; shift >= 0; shift -= 8) {
        out_number(out, address >> shift & 255, 10);
        if (shift > 0) out_byte(out, '.');
    }
}

/* --- IPv6 ------------------------------------------------------------------------------------------ */

/* The IPv4 tail of an address, into two pieces; -1 when it is no dotted quad. */
static int ipv6_read_quad(const uint8_t *p, const uint8_t *end, uint16_t *pieces) {
    for (int part = 0; part < IPV4_PARTS; part++) {
        int value = 0;
        if (part > 0 && (p == end || *p++ != '.')) return -1;
        if (p == end || *p < '0' || *p > '9') return -1;
        if (*p == '0' && end - p > 1 && p[1] >= '0' && p[1] <= '9') return -1;
        for (; p < end && *p >= '0' && *p <= '9'; p++) {
            value = value * 10 + (*p - '0');
            if (value > 255) return -1;
        }
        pieces[part / 2] = (uint16_t)(pieces[part / 2] << 8 | value);
    }
    return p == end ? 0 : -1;
}

/* Move the pieces behind "::" to the end of the address. */
static void ipv6_spread(uint16_t *pieces, int count, int gap) {
    int tail = count - gap;
    memmove(pieces + IPV6_PIECES - tail, pieces + gap, (size_t)tail * sizeof *pieces);
    memset(pieces + gap, 0, (size_t)(IPV6_PIECES - count) * sizeof *pieces);
}

/* The pieces of the text between the brackets; -1 when it is no address. */
static int ipv6_parse(const uint8_t *p, const uint8_t *end, uint16_t *pieces) {
    int count = 0, gap = -1;
    memset(pieces, 0, IPV6_PIECES * sizeof *pieces);
    if (p < end && *p == ':' && (end - p < 2 || p[1] != ':')) return -1;
    while (p < end) {
        const uint8_t *piece = p;
        uint32_t value = 0;
        if (*p == ':') { /* the second colon of "::", or the first two at the start */
            if (gap >= 0) return -1;
            p += count == 0 ? 2 : 1;
            gap = count;
            continue;
        }
        if (count == IPV6_PIECES) return -1;
        for (; p < end && p - piece < 4 && hex_value(*p) >= 0; p++)
            value = value << 4 | (uint32_t)hex_value(*p);
        if (p < end && *p == '.') {
            if (count > IPV6_PIECES - 2 || ipv6_read_quad(piece, end, pieces + count) < 0) return -1;
            count += 2;
            break;
        }
        if (p < end && (p == piece || *p++ != ':' || p == end)) return -1;
        pieces[count++] = (uint16_t)value;
    }
    if (gap < 0) return count == IPV6_PIECES ? 0 : -1;
    if (count == IPV6_PIECES) return -1; /* "::" stands for one piece at least */
    ipv6_spread(pieces, count, gap);
    return 0;
}

/* Start of the first longest run of two or more zero pieces, its length in `*run`; -1 = none. */
static int ipv6_zero_run(const uint16_t *pieces, int *run) {
    int best = -1;
    *run = 1;
    for (int i = 0, n; i < IPV6_PIECES; i += n ? n : 1) {
        for (n = 0; i + n < IPV6_PIECES && pieces[i + n] == 0;) n++;
        if (n > *run) {
            best = i;
            *run = n;
        }
    }
    return best;
}

static void ipv6_write(url_out *out, const uint16_t *pieces) {
    int run, zeros = ipv6_zero_run(pieces, &run);
    out_byte(out, '[');
    for (int i = 0; i < IPV6_PIECES; i++) {
        if (i == zeros) {
            out_bytes(out, "::", i == 0 ? 2 : 1);
            i += run - 1;
            continue;
        }
        out_number(out, pieces[i], 16);
        if (i < IPV6_PIECES - 1) out_byte(out, ':');
    }
    out_byte(out, ']');
}

static int host_put_ipv6(url_text host, url_out *out) {
    uint16_t pieces[IPV6_PIECES];
    if (host.end[-1] != ']' || ipv6_parse(host.at + 1, host.end - 1, pieces) < 0)
        return RESOLVED_INVALID;
    ipv6_write(out, pieces);
    return RESOLVED_OK;
}

/* --- any host -------------------------------------------------------------------------------------- */

/* Copy a host percent-decoded and in lower case; answers the classes of what was not plain. */
static inline uint8_t host_decode(url_text host, url_out *out) {
    uint8_t *to = out->data + out->size, seen = 0;
    for (;;) {
        while (host.at < host.end && url_class[*host.at] & HOST_PLAIN) *to++ = *host.at++;
        if (host.at == host.end) break;
        uint8_t c = *host.at++;
        if (c == '%' && host.end - host.at >= 2 && hex_value(host.at[0]) >= 0 &&
            hex_value(host.at[1]) >= 0) {
            c = (uint8_t)(hex_value(host.at[0]) << 4 | hex_value(host.at[1]));
            host.at += 2;
        }
        if (c >= 'A' && c <= 'Z') c |= 0x20;
        seen |= url_class[c];
        *to++ = c;
    }
    out->size = (size_t)(to - out->data);
    return seen;
}

/* Whether DNS could know such a name. */
static inline int host_fits_dns(const uint8_t *host, size_t size) {
    size_t label = 0;
    if (size > MAX_HOST_BYTES) return 0;
    if (size <= MAX_LABEL_BYTES) return 1;
    for (size_t i = 0; i < size; i++) {
        label = host[i] == '.' ? 0 : label + 1;
        if (label > MAX_LABEL_BYTES) return 0;
    }
    return 1;
}

/* Write a host as the standard serialises it.  Wants room for IPV6_TEXT_BYTES and for the text.
 * RESOLVED_SLOW leaves the host percent-decoded in `out`. */
static inline int host_put(url_text host, url_out *out) {
    size_t start = out->size;
    if (host.at == host.end) return RESOLVED_INVALID;
    if (*host.at == '[') return host_put_ipv6(host, out);
    uint8_t seen = host_decode(host, out);
    if (seen & NOT_ASCII) return RESOLVED_SLOW;
    if (seen & HOST_BAD) return RESOLVED_INVALID;
    if (!host_fits_dns(out->data + start, out->size - start)) return RESOLVED_INVALID;
    if (ends_in_number(out->data + start, out->size - start)) {
        int64_t address = ipv4_parse(out->data + start, out->size - start);
        if (address < 0) return RESOLVED_INVALID;
        out->size = start;
        ipv4_write(out, (uint32_t)address);
    }
    return RESOLVED_OK;
}

#endif
