/* CRC-32C (Castagnoli, reflected polynomial 0x82F63B78) with the instruction of SSE4.2 or by tables.
 *
 * States are kept inverted, so that a checksum over salt and data starts from the state of the salt:
 *     state = crc32c_extend(CRC32C_START, salt, n);  crc = ~crc32c_extend(state, data, m);
 * Call crc32c_init() once before the first use; it looks at the processor and fills the tables of
 * the portable way (slicing by eight, about 1.5 bytes a cycle).
 */
#ifndef LARBINPY_CRC32C_H
#define LARBINPY_CRC32C_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CRC32C_START 0xffffffffu
#define CRC32C_POLYNOMIAL 0x82f63b78u

static uint32_t crc32c_table[8][256];

static uint32_t crc32c_tables(uint32_t state, const uint8_t *data, size_t size) {
    for (; size >= 8; size -= 8, data += 8) {
        uint32_t low, high;
        memcpy(&low, data, 4);
        memcpy(&high, data + 4, 4);
        low ^= state;
        state = crc32c_table[7][low & 0xff] ^ crc32c_table[6][(low >> 8) & 0xff] ^
                crc32c_table[5][(low >> 16) & 0xff] ^ crc32c_table[4][low >> 24] ^
                crc32c_table[3][high & 0xff] ^ crc32c_table[2][(high >> 8) & 0xff] ^
                crc32c_table[1][(high >> 16) & 0xff] ^ crc32c_table[0][high >> 24];
    }
    for (; size; size--) state = crc32c_table[0][(state ^ *data++) & 0xff] ^ (state >> 8);
    return state;
}

static uint32_t (*crc32c_extend)(uint32_t, const uint8_t *, size_t) = crc32c_tables;

#if defined(__x86_64__)
#include <nmmintrin.h>

__attribute__((target("sse4.2")))
static uint32_t crc32c_sse42(uint32_t state, const uint8_t *data, size_t size) {
    uint64_t wide = state, word;
    for (; size >= 8; size -= 8, data += 8) {
        memcpy(&word, data, 8);
        wide = _mm_crc32_u64(wide, word);
    }
    state = (uint32_t)wide;
    if (size & 4) {
        uint32_t half;
        memcpy(&half, data, 4);
        state = _mm_crc32_u32(state, half);
        data += 4;
    }
    for (size &= 3; size; size--) state = _mm_crc32_u8(state, *data++);
    return state;
}

static int crc32c_has_instruction(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("sse4.2");
}
#else
#define crc32c_sse42 crc32c_tables
static int crc32c_has_instruction(void) { return 0; }
#endif

static void crc32c_init(void) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t state = byte;
        for (int bit = 0; bit < 8; bit++)
            state = (state >> 1) ^ (CRC32C_POLYNOMIAL & (0u - (state & 1)));
        crc32c_table[0][byte] = state;
    }
    for (uint32_t byte = 0; byte < 256; byte++)
        for (int slice = 1; slice < 8; slice++) {
            uint32_t before = crc32c_table[slice - 1][byte];
            crc32c_table[slice][byte] = crc32c_table[0][before & 0xff] ^ (before >> 8);
        }
    crc32c_extend = crc32c_has_instruction() ? crc32c_sse42 : crc32c_tables;
}

#endif
