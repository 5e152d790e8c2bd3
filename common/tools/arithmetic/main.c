/*
 * main.c: build/gpu/arithmetic FILE: multiplies the tiles of tiles.h and designed.c on the GPU and
 * writes what the Tensor Core makes of them. build/gpu/arithmetic error prints how the error of a
 * sum grows with k.
 *
 * FILE, little-endian, for every type of arithmetic_types in order: a header of 8 words of 32 bits
 * (ARITHMETIC_MAGIC, the type's index, designed cases, classes, tiles of a class, full tiles of a
 * class, 0, 0), two of 64 bits (the operands' hash, and the hash of the results); the designed
 * cases' results, 2 words each (added to the accumulator, without it); the hashes of the tiles that
 * these are the diagonals of, 2 each; then of each class the hashes of its tiles, and the results
 * of its first FULL_TILES tiles.
 *
 * build/sim/arithmetic compact FILE makes of it what docs/results keeps.
 *
 * Exit codes as everywhere: 1 if a tile of small integers was wrong, or the file could not be
 * written, 2 for wrong usage, 3 without a GPU.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "element_codec.h"
#include "gpu/cuda_call.h"
#include "gpu/gpu_state.h"
#include "tools/arithmetic/error.h"
#include "tools/arithmetic/record.h"
#include "tools/arithmetic/tile_kernels.h"
#include "tools/arithmetic/tiles.h"

enum { BATCH = 128 /* tiles of one launch, all of one shape */ };

static const struct tensor_core *const cores[ARITHMETIC_TYPES] = {
    &tensor_core_fp16,      &tensor_core_bf16,      &tensor_core_e4m3,     &tensor_core_e5m2,
    &tensor_core_e4m3_e5m2, &tensor_core_e5m2_e4m3, &tensor_core_mma_fp16, &tensor_core_mma_bf16,
};

static struct {
    unsigned char *operands;
    float *results;
    unsigned char *host_operands;
    uint32_t *host_results;
    struct tile *tile;
} memory;

static size_t tile_bytes(struct tile_shape s) {
    return (size_t)(TILE_M + s.n) * STEP_BYTES * (size_t)s.steps + (size_t)TILE_M * (size_t)s.n * 4;
}

static bool open_memory(void) {
    const struct tile_shape most = {TILE_MOST_N, MOST_STEPS, true};
    const size_t in = BATCH * tile_bytes(most),
                 out = BATCH * sizeof(uint32_t) * TILE_M * TILE_MOST_N;
    memory.operands = backend_alloc(in, "operands", true);
    memory.results = backend_alloc(out, "results", true);
    memory.host_operands = malloc(in);
    memory.host_results = malloc(out);
    memory.tile = malloc(sizeof *memory.tile);
    return memory.operands && memory.results && memory.host_operands && memory.host_results &&
           memory.tile;
}

static void stage(const struct tile *tile, int slot) {
    const struct tile_shape s = tile->shape;
    const size_t row_bytes = STEP_BYTES * (size_t)s.steps;
    const size_t a_bytes = TILE_M * row_bytes, b_bytes = (size_t)s.n * row_bytes;
    unsigned char *const to = memory.host_operands + (size_t)slot * tile_bytes(s);
    memcpy(to, tile->a, a_bytes);
    memcpy(to + a_bytes, tile->b, b_bytes);
    memcpy(to + a_bytes + b_bytes, tile->c, (size_t)TILE_M * (size_t)s.n * 4);
}

/* Multiplies the first `count` staged tiles. */
static bool multiply(const struct tensor_core *core, struct tile_shape s, int count) {
    const size_t results = (size_t)count * TILE_M * (size_t)s.n;
    struct gemm_args args;
    memset(&args, 0, sizeof args);
    args.a = (const element_t *)memory.operands;
    args.m = (int)tile_bytes(s);
    args.k = s.steps;
    args.items = s.n / 8;
    args.splits = s.accumulate;
    args.workspace = memory.results;
    const struct gemm_launch launch = {.kernel =
                                           (s.steps > 1 ? core->four : core->one)[s.n / 8 - 1],
                                       .name = "arithmetic",
                                       .grid = count,
                                       .cluster = 1,
                                       .threads = 128,
                                       .smem_bytes = core->smem_bytes,
                                       .stream = gpu_state.stream};
    return backend_copy_in(memory.operands, memory.host_operands, (size_t)count * tile_bytes(s)) &&
           backend_fill(memory.results, 0xffff, results * 2) &&
           gemm_launch_kernel(&launch, &args) == GEMM_OK &&
           cuda_ok(cudaStreamSynchronize(gpu_state.stream), launch.name) &&
           backend_copy_out(memory.host_results, memory.results, results * 4);
}

/* ---- what is written ---- */

struct record {
    FILE *file;
    uint64_t results_hash, operands_hash;
    int wrong;
};

static void put(struct record *r, const void *words, size_t count) {
    fwrite(words, sizeof(uint32_t), count, r->file);
}

static const uint32_t *results_of(int slot, int n) {
    return memory.host_results + (size_t)slot * TILE_M * (size_t)n;
}

static bool record_designed(struct record *r, int which, const struct dot_case *cases,
                            size_t count) {
    uint32_t *const values = malloc(count * 2 * sizeof *values);
    uint64_t *const hashes = malloc(count / CASES_OF_TILE * 2 * sizeof *hashes);
    bool good = values && hashes;
    const struct arithmetic_type *const type = &arithmetic_types[which];
    const size_t tiles = count / CASES_OF_TILE;
    for (int added = 1; good && added >= 0; --added)
        for (size_t first = 0; good && first < tiles; first += BATCH) {
            const int batch = tiles - first < BATCH ? (int)(tiles - first) : BATCH;
            for (int i = 0; i < batch; ++i) {
                const size_t at = (first + (size_t)i) * CASES_OF_TILE;
                designed_tile(type, cases + at, added, memory.tile);
                r->operands_hash = hash_operands(r->operands_hash, type, memory.tile);
                stage(memory.tile, i);
            }
            good = multiply(cores[which], memory.tile->shape, batch);
            for (int i = 0; good && i < batch; ++i) {
                const uint32_t *const d = results_of(i, CASES_OF_TILE);
                const size_t tile = first + (size_t)i;
                for (size_t j = 0; j < CASES_OF_TILE; ++j)
                    values[(tile * CASES_OF_TILE + j) * 2 + !added] = d[j * CASES_OF_TILE + j];
                hashes[tile * 2 + !added] = hash_words(HASH_START, d, TILE_M * CASES_OF_TILE);
            }
        }
    if (good) {
        put(r, values, count * 2);
        put(r, hashes, tiles * 4);
        r->results_hash = hash_words(r->results_hash, values, count * 2);
        r->results_hash = hash_words(r->results_hash, (const uint32_t *)hashes, tiles * 4);
    }
    free(values);
    free(hashes);
    return good;
}

/* Of a tile of small integers, whose results every way of adding has. */
static int count_wrong(const struct arithmetic_type *type, const struct tile *tile,
                       const uint32_t *d) {
    const int n = tile->shape.n;
    int wrong = 0;
    for (int i = 0; i < TILE_M; ++i)
        for (int j = 0; j < n; ++j) {
            double sum = tile->shape.accumulate ? bits_float(tile->c[i * n + j]) : 0;
            for (int k = 0; k < step_k(type); ++k)
                sum +=
                    decode_value(&type->a,
                                 get_element(tile->a + i * STEP_BYTES, k, type->a.bytes)) *
                    decode_value(&type->b, get_element(tile->b + j * STEP_BYTES, k, type->b.bytes));
            wrong += bits_float(d[i * n + j]) != (float)sum;
        }
    return wrong;
}

static bool record_class(struct record *r, int which, enum tile_class class) {
    static uint64_t hashes[TILES_OF_CLASS];
    static uint32_t full[FULL_TILES * TILE_M * 8];
    const struct arithmetic_type *const type = &arithmetic_types[which];
    for (int first = 0; first < TILES_OF_CLASS;) {
        const struct tile_shape shape = random_tile_shape(class, first);
        int batch = 0;
        while (batch < BATCH && first + batch < TILES_OF_CLASS) {
            const struct tile_shape s = random_tile_shape(class, first + batch);
            if (s.n != shape.n || s.accumulate != shape.accumulate) break;
            random_tile(type, class, first + batch, memory.tile);
            r->operands_hash = hash_operands(r->operands_hash, type, memory.tile);
            stage(memory.tile, batch++);
        }
        if (!multiply(cores[which], shape, batch)) return false;
        for (int i = 0; i < batch; ++i) {
            const uint32_t *const d = results_of(i, shape.n);
            hashes[first + i] = hash_words(HASH_START, d, TILE_M * (size_t)shape.n);
            if (first + i < FULL_TILES)
                memcpy(full + (size_t)(first + i) * TILE_M * 8, d, TILE_M * 8 * sizeof *d);
            if (class != CLASS_INTEGERS) continue;
            random_tile(type, class, first + i, memory.tile);
            const int wrong = count_wrong(type, memory.tile, d);
            if (wrong && r->wrong < 10)
                fprintf(stderr, "arithmetic: %s: n = %d, integers %d: %d of %d are wrong\n",
                        type->name, shape.n, first + i, wrong, TILE_M * shape.n);
            r->wrong += wrong > 0;
        }
        first += batch;
    }
    put(r, hashes, TILES_OF_CLASS * 2);
    put(r, full, sizeof full / sizeof *full);
    r->results_hash = hash_words(r->results_hash, (const uint32_t *)hashes, TILES_OF_CLASS * 2);
    return true;
}

static bool record_type(struct record *r, int which) {
    size_t count;
    struct dot_case *const cases = designed_cases(&arithmetic_types[which], &count);
    const uint32_t header[] = {ARITHMETIC_MAGIC,
                               (uint32_t)which,
                               (uint32_t)count,
                               TILE_CLASSES,
                               TILES_OF_CLASS,
                               FULL_TILES,
                               0,
                               0};
    put(r, header, 8);
    const long hashes_at = ftell(r->file);
    r->operands_hash = r->results_hash = HASH_START;
    const uint64_t room[2] = {0, 0};
    put(r, room, 4);
    bool good = record_designed(r, which, cases, count);
    for (int class = 0; good && class < TILE_CLASSES; ++class)
        good = record_class(r, which, class);
    free(cases);
    const uint64_t hashes[2] = {r->operands_hash, r->results_hash};
    fseek(r->file, hashes_at, SEEK_SET);
    put(r, hashes, 4);
    fseek(r->file, 0, SEEK_END);
    printf("%-10s %6zu cases, %d tiles of %d classes: operands %016llx, results %016llx\n",
           arithmetic_types[which].name, count, TILES_OF_CLASS * TILE_CLASSES, TILE_CLASSES,
           (unsigned long long)r->operands_hash, (unsigned long long)r->results_hash);
    return good;
}

/* ---- long sums ---- */

static bool multiply_tile(int which, const struct tile *tile, uint32_t *results) {
    stage(tile, 0);
    if (!multiply(cores[which], tile->shape, 1)) return false;
    memcpy(results, memory.host_results, sizeof *results * TILE_M * (size_t)tile->shape.n);
    return true;
}

static enum exit_code show_errors(void) {
    static struct error_table table;
    if (!measure_errors(&table, multiply_tile)) return EXIT_WRONG;
    print_errors(&table, stdout);
    return EXIT_VERIFIED;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: arithmetic FILE | error\n");
        return EXIT_USAGE;
    }
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        fprintf(stderr, "arithmetic: no CUDA device: there is nothing to ask\n");
        return EXIT_NO_DEVICE;
    }
    struct backend_info info;
    const enum exit_code code = backend_open(&(struct backend_options){.type = GEMM_BF16}, &info);
    if (code != EXIT_VERIFIED) return code;
    if (!open_memory()) {
        fprintf(stderr, "arithmetic: not enough memory\n");
        return EXIT_NO_DEVICE;
    }
    if (!strcmp(argv[1], "error")) return show_errors();
    struct record r = {.file = fopen(argv[1], "wb")};
    bool good = r.file != NULL;
    for (int which = 0; good && which < ARITHMETIC_TYPES; ++which)
        good = record_type(&r, which);
    if (r.file && (ferror(r.file) || fclose(r.file))) good = false;
    if (!good) fprintf(stderr, "arithmetic: %s is not complete\n", argv[1]);
    if (r.wrong) fprintf(stderr, "arithmetic: %d tiles of integers are wrong\n", r.wrong);
    return good && !r.wrong ? EXIT_VERIFIED : EXIT_WRONG;
}
