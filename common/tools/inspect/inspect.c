/*
 * inspect.c: a tool that shows layouts: where a swizzle puts 16 bytes, what a wgmma descriptor
 * means and addresses, which banks a warp's ldmatrix touches, where the TMA puts each element of a
 * box; how the Tensor Core adds, and how the error of its sums grows.
 *
 * It calls the functions with which the simulator itself computes, so what it shows is what a
 * kernel gets.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "gemm_types.h"
#include "sim/models/descriptor.h"
#include "sim/models/tensor_map.h"
#include "tools/inspect/inspect_error.h"
#include "tools/inspect/inspect_grid.h"
#include "tools/inspect/inspect_sum.h"

enum { USAGE = 2, CHUNK = 16, LINE = 128, LANES = 32 };

static const char help[] =
    "usage: inspect COMMAND [options] [--svg FILE]\n"
    "\n"
    "  swizzle     which 16-byte chunk of which row lies where in shared memory\n"
    "      --swizzle 0|32|64|128  width of the swizzle in bytes (128)\n"
    "      --rows N               lines of 128 bytes to show (8)\n"
    "      --base ADDRESS         where the tile starts (0); a wrong alignment shows at once\n"
    "  descriptor  the fields of a wgmma matrix descriptor and the addresses they make\n"
    "      --hex WORD             decode this word; or build one from the fields:\n"
    "      --start A --lbo B --sbo B --base-offset N --swizzle 0|32|64|128   (0, 0, 1024, 0, 128)\n"
    "      --major k|mn           how the tile is stored (k)\n"
    "      --rows N               lines to show: m or n if K-major, k if MN-major (16)\n"
    "  tile        which banks a warp's ldmatrix_x4 touches, and its conflicts\n"
    "      --swizzle 0|32|64|128  (128)\n"
    "      --pitch BYTES          from row to row, a multiple of 16 (the swizzle's width; 32 for "
    "0)\n"
    "      --column N             16-byte chunk of the row at which the 16 x 16 tile begins (0)\n"
    "      --base ADDRESS         (0)\n"
    "  tensor-map  where the TMA puts a box of a matrix, 16 bytes per cell\n"
    "      --matrix ROWSxCOLUMNS  (64x64)       --ld ELEMENTS    row pitch (columns, rounded up to "
    "8)\n"
    "      --box ROWSxCOLUMNS     (8x64)        --at ROW,COLUMN  of the box (0,0); may be "
    "negative;\n"
    "                                                COLUMN a multiple of 16 bytes\n"
    "      --type fp16|bf16|e4m3|fp32 (fp16)    --swizzle 0|32|64|128 (128)\n"
    "      --base ADDRESS         of the box in shared memory (0)\n"
    "\n"
    "  sum         how one instruction of the Tensor Core adds products and an accumulator\n"
    "      --element fp16|bf16|e4m3|e5m2  (bf16)\n"
    "      --products AxB,AxB...  up to 16, of 8-bit elements 32 (1x1); rounded to the type\n"
    "      --accumulator C        (0)\n"
    "  error       how the error of a sum grows with the number of its products; --svg draws it\n"
    "      --record FILE          what a GPU measured: its sums have to be the same, bit by bit\n"
    "\n"
    "Numbers may be decimal or, with 0x, hexadecimal. Exit code 2: bad usage.\n";

struct options {
    const char *svg, *element, *products, *accumulator, *record;
    enum gemm_swizzle swizzle;
    enum gemm_type type;
    long rows, base, start, lbo, sbo, base_offset, pitch, column, ld;
    long matrix[2], box[2], at[2];
    bool mn_major, has_word;
    uint64_t word;
};

static _Noreturn void usage(const char *option, const char *value, const char *expected) {
    fprintf(stderr, "error: inspect: --%s %s: %s\n(inspect --help lists the options)\n", option,
            value, expected);
    exit(USAGE);
}

static long number(const char *option, const char *value, long least, long most) {
    char *end, expected[80];
    errno = 0;
    const long result = strtol(value, &end, 0);
    snprintf(expected, sizeof expected, "expected a number from %ld to %ld", least, most);
    if (errno || end == value || *end || result < least || result > most)
        usage(option, value, expected);
    return result;
}

static void pair(const char *option, const char *value, char separator, long least, long most,
                 long out[2]) {
    char copy[64];
    snprintf(copy, sizeof copy, "%s", value);
    char *const middle = strchr(copy, separator);
    if (!middle)
        usage(option, value, separator == 'x' ? "expected ROWSxCOLUMNS" : "expected ROW,COLUMN");
    *middle = 0;
    out[0] = number(option, copy, least, most);
    out[1] = number(option, middle + 1, least, most);
}

static int word_index(const char *option, const char *value, const char *const *words,
                      const char *expected) {
    for (int i = 0; words[i]; ++i)
        if (!strcmp(value, words[i])) return i;
    usage(option, value, expected);
}

static void write_svg(const struct grid *g, const char *path) {
    if (!path) return;
    FILE *const out = fopen(path, "w");
    const bool written = out && grid_svg(g, out);
    if (!out || fclose(out) || !written) {
        fprintf(stderr, "error: inspect: cannot write %s: %s\n", path, strerror(errno));
        exit(1);
    }
}

static void finish(struct grid *g, const struct options *o) {
    grid_print(g, stdout);
    write_svg(g, o->svg);
    grid_free(g);
}

/* Lines of 128 bytes, one column per 16 bytes: the four banks a cell occupies follow from its
 * column alone. */
static struct grid lines_of_shared_memory(const char *title, int lines, long first_address) {
    struct grid g = grid_new(title, "address", "banks", lines, LINE / CHUNK);
    for (int c = 0; c < g.columns; ++c)
        snprintf(g.column_label[c], GRID_LABEL, "%d-%d", 4 * c, 4 * c + 3);
    for (int r = 0; r < lines; ++r)
        snprintf(g.row_label[r], GRID_LABEL, "0x%lx", first_address + (long)r * LINE);
    return g;
}

static int swizzle_command(const struct options *o) {
    const long width = o->swizzle == SWIZZLE_NONE ? LINE : swizzle_width(o->swizzle);
    const long first = o->base / LINE * LINE;
    char title[96];
    snprintf(title, sizeof title, "%s: cell = row.chunk, rows of %ld bytes",
             o->swizzle ? "swizzled" : "not swizzled", width);
    struct grid g = lines_of_shared_memory(title, (int)o->rows, first);
    for (long at = o->base; at < first + o->rows * LINE; at += CHUNK) {
        const long physical = swizzle_address((uint32_t)at, o->swizzle), logical = at - o->base;
        const long line = (physical - first) / LINE;
        if (line >= o->rows) continue;
        struct grid_cell *const cell = grid_at(&g, (int)line, (int)(physical % LINE / CHUNK));
        snprintf(cell->label, GRID_LABEL, "%ld.%ld", logical / width, logical % width / CHUNK);
        cell->color = (int)(logical % width / CHUNK);
    }
    finish(&g, o);
    if (o->base % (long)swizzle_period(o->swizzle))
        printf("\nnote: 0x%lx is not a multiple of %u, so the pattern starts in the middle.\n",
               o->base, swizzle_period(o->swizzle));
    return 0;
}

static int descriptor_command(const struct options *o) {
    struct descriptor d = {.start = (uint32_t)o->start,
                           .lbo = (uint32_t)o->lbo,
                           .sbo = (uint32_t)o->sbo,
                           .base_offset = (uint32_t)o->base_offset,
                           .swizzle = o->swizzle};
    const uint64_t word = o->has_word ? o->word : descriptor_encode(&d);
    const char *const fault = descriptor_decode(word, &d);
    printf("descriptor 0x%016llx\n", (unsigned long long)word);
    printf("  bits  0-13  start address         0x%x\n", d.start);
    printf("  bits 16-29  leading byte offset   %u\n", d.lbo);
    printf("  bits 32-45  stride byte offset    %u\n", d.sbo);
    printf("  bits 49-51  base offset           %u\n", d.base_offset);
    printf("  bits 62-63  swizzle mode          %u (%s)\n", (unsigned)(word >> 62),
           (const char *const[]){"none", "32 bytes", "64 bytes", "128 bytes"}[d.swizzle]);
    if (fault) {
        printf("invalid: %s\n", fault);
        return 1;
    }
    putchar('\n');
    const int chunks = o->mn_major ? 8 : 2;
    struct grid g =
        grid_new("shared-memory address of each 16 bytes (8 elements)",
                 o->mn_major ? "k" : "m or n", o->mn_major ? "m or n" : "k", (int)o->rows, chunks);
    for (int c = 0; c < chunks; ++c)
        snprintf(g.column_label[c], GRID_LABEL, "%d-%d", 8 * c, 8 * c + 7);
    for (int r = 0; r < g.rows; ++r) {
        snprintf(g.row_label[r], GRID_LABEL, "%d", r);
        for (int c = 0; c < chunks; ++c) {
            const uint32_t address = descriptor_chunk(&d, o->mn_major, r, c);
            struct grid_cell *const cell = grid_at(&g, r, c);
            snprintf(cell->label, GRID_LABEL, "0x%x", address);
            cell->color = (int)(address % LINE / CHUNK);
        }
    }
    finish(&g, o);
    return 0;
}

static int tile_command(const struct options *o) {
    const long pitch = o->pitch ? o->pitch : o->swizzle ? (long)swizzle_width(o->swizzle) : 32;
    uint32_t address[LANES], least = UINT32_MAX, most = 0;
    for (int lane = 0; lane < LANES; ++lane) {
        const long linear = o->base + lane % 16 * pitch + (o->column + lane / 16) * CHUNK;
        address[lane] = swizzle_address((uint32_t)linear, o->swizzle);
        if (address[lane] < least) least = address[lane];
        if (address[lane] > most) most = address[lane];
    }
    const long first = least / LINE * LINE;
    char title[96];
    snprintf(title, sizeof title,
             "ldmatrix_x4: cell = lane whose row lies there, rows %ld bytes apart", pitch);
    struct grid g = lines_of_shared_memory(title, (int)((most - first) / LINE + 1), first);
    for (int lane = 0; lane < LANES; ++lane) {
        struct grid_cell *const cell =
            grid_at(&g, (int)((address[lane] - first) / LINE), (int)(address[lane] % LINE / CHUNK));
        snprintf(cell->label, GRID_LABEL, "%d", lane);
        cell->color = lane / 8;
    }
    finish(&g, o);
    putchar('\n');
    int cycles = 0;
    for (int matrix = 0; matrix < 4; ++matrix) {
        int rows_on[LINE / CHUNK] = {0}, worst = 0;
        for (int row = 0; row < 8; ++row) {
            const int group = (int)(address[8 * matrix + row] % LINE / CHUNK);
            if (++rows_on[group] > worst) worst = rows_on[group];
        }
        printf("matrix %d (lanes %d-%d): %d wavefront%s\n", matrix, 8 * matrix, 8 * matrix + 7,
               worst, worst == 1 ? ", no conflict" : "s");
        cycles += worst;
    }
    printf("shared-memory port: %d cycles, 4 without conflicts; bank conflicts: %d\n", cycles,
           cycles - 4);
    return 0;
}

static int tensor_map_command(const struct options *o) {
    const int size = gemm_type_bytes(o->type);
    const long ld = o->ld ? o->ld : (o->matrix[1] + 7) / 8 * 8;
    struct tensor_map map;
    const struct tensor_map_fields f = {
        .base = (const unsigned char *)4096, /* only differences are shown */
        .rows = o->matrix[0],
        .columns = o->matrix[1],
        .pitch = ld * size,
        .box_rows = (int)o->box[0],
        .box_columns = (int)o->box[1],
        .element_bytes = size,
        .type = o->type,
        .swizzle = o->swizzle};
    const char *const fault = tensor_map_encode(&map, &f);
    if (fault) {
        fprintf(stderr, "error: inspect: tensor-map: %s\n", fault);
        return USAGE;
    }
    if (o->at[1] * size % CHUNK) {
        fprintf(stderr,
                "error: inspect: tensor-map: column %ld is %ld bytes into the row: a box begins at "
                "a multiple of %d bytes, which is %d elements; a GPU reports an illegal "
                "instruction\n",
                o->at[1], o->at[1] * size, CHUNK, CHUNK / size);
        return USAGE;
    }
    const uint32_t bytes = tensor_map_box_bytes(&f);
    const long first = o->base / LINE * LINE;
    struct grid g =
        lines_of_shared_memory("box in shared memory: cell = first element (row,column); 0: filled",
                               (int)((o->base + (long)bytes - 1 - first) / LINE + 1), first);
    for (int r = 0; r < f.box_rows; ++r) {
        const struct box_row in = tensor_map_box_row(&f, o->at[0], o->at[1], r);
        for (int c = 0; c < f.box_columns; c += CHUNK / size) {
            const long at = o->base + tensor_map_box_offset(&f, (uint32_t)o->base, r, c);
            if ((at - first) / LINE >= g.rows)
                continue; /* a misaligned base moves it past the last line */
            struct grid_cell *const cell =
                grid_at(&g, (int)((at - first) / LINE), (int)(at % LINE / CHUNK));
            const bool outside = c + CHUNK / size <= in.first || c >= in.last;
            const bool partly = c < in.first || c + CHUNK / size > in.last;
            if (outside)
                snprintf(cell->label, GRID_LABEL, "0");
            else
                snprintf(cell->label, GRID_LABEL, "%ld,%ld%s", o->at[0] + r, o->at[1] + c,
                         partly ? "*" : "");
            if (!outside) cell->color = c * size / CHUNK;
        }
    }
    finish(&g, o);
    printf("\n%u bytes are counted down on the barrier, whatever is inside the matrix (*: partly "
           "inside)\n",
           bytes);
    return 0;
}

static int sum_command(const struct options *o) {
    const char *const fault = inspect_sum(stdout, o->element, o->products, o->accumulator);
    if (fault) fprintf(stderr, "error: inspect: sum: %s\n", fault);
    return fault ? USAGE : 0;
}

static int error_command(const struct options *o) {
    return inspect_error(stdout, o->record, o->svg);
}

static const struct option long_options[] = {
    {"help", no_argument, 0, 'h'},           {"swizzle", required_argument, 0, 's'},
    {"mode", required_argument, 0, 's'},     {"rows", required_argument, 0, 'r'},
    {"base", required_argument, 0, 'b'},     {"hex", required_argument, 0, 'x'},
    {"start", required_argument, 0, 'a'},    {"lbo", required_argument, 0, 'l'},
    {"sbo", required_argument, 0, 'o'},      {"base-offset", required_argument, 0, 'f'},
    {"major", required_argument, 0, 'm'},    {"pitch", required_argument, 0, 'p'},
    {"column", required_argument, 0, 'c'},   {"matrix", required_argument, 0, 'M'},
    {"ld", required_argument, 0, 'd'},       {"box", required_argument, 0, 'B'},
    {"at", required_argument, 0, 'A'},       {"type", required_argument, 0, 't'},
    {"svg", required_argument, 0, 'v'},      {"element", required_argument, 0, 'E'},
    {"products", required_argument, 0, 'P'}, {"accumulator", required_argument, 0, 'C'},
    {"record", required_argument, 0, 'R'},   {0, 0, 0, 0}};

static void set(struct options *o, int option, const char *name, const char *value) {
    static const char *const swizzles[] = {"0", "32", "64", "128", NULL};
    static const char *const types[] = {"fp16", "bf16", "e4m3", "fp32", NULL};
    static const char *const majors[] = {"k", "mn", NULL};
    char *end;
    switch (option) {
    case 's':
        o->swizzle =
            (enum gemm_swizzle)word_index(name, value, swizzles, "expected 0, 32, 64 or 128");
        break;
    case 't':
        o->type =
            (enum gemm_type)word_index(name, value, types, "expected fp16, bf16, e4m3 or fp32");
        break;
    case 'm':
        o->mn_major = word_index(name, value, majors, "expected k or mn") == 1;
        break;
    case 'r':
        o->rows = number(name, value, 1, 256);
        break;
    case 'b':
        o->base = number(name, value, 0, 0x3fff0);
        break;
    case 'a':
        o->start = number(name, value, 0, 0x3ffff);
        break;
    case 'l':
        o->lbo = number(name, value, 0, 0x3ffff);
        break;
    case 'o':
        o->sbo = number(name, value, 0, 0x3ffff);
        break;
    case 'f':
        o->base_offset = number(name, value, 0, 7);
        break;
    case 'p':
        o->pitch = number(name, value, CHUNK, 4096);
        break;
    case 'c':
        o->column = number(name, value, 0, 255);
        break;
    case 'd':
        o->ld = number(name, value, 1, INT32_MAX);
        break;
    case 'M':
        pair(name, value, 'x', 1, INT32_MAX, o->matrix);
        break;
    case 'B':
        pair(name, value, 'x', 1, 256, o->box);
        break;
    case 'A':
        pair(name, value, ',', INT32_MIN, INT32_MAX, o->at);
        break;
    case 'v':
        o->svg = value;
        break;
    case 'E':
        o->element = value;
        break;
    case 'P':
        o->products = value;
        break;
    case 'C':
        o->accumulator = value;
        break;
    case 'R':
        o->record = value;
        break;
    case 'x':
        errno = 0;
        o->word = strtoull(value, &end, 16);
        if (errno || end == value || *end)
            usage(name, value, "expected a 64-bit hexadecimal number");
        o->has_word = true;
        break;
    default:
        break;
    }
    if ((option == 'b' || option == 'p') && (option == 'b' ? o->base : o->pitch) % CHUNK)
        usage(name, value, "expected a multiple of 16");
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        const char *options; /* that it takes, beside --svg */
        int (*run)(const struct options *o);
    } commands[] = {
        {"swizzle", "srb", swizzle_command}, {"descriptor", "xalofsmr", descriptor_command},
        {"tile", "spcb", tile_command},      {"tensor-map", "MdBAtsb", tensor_map_command},
        {"sum", "EPC", sum_command},         {"error", "R", error_command}};
    struct options o = {.swizzle = SWIZZLE_128B,
                        .sbo = 1024,
                        .matrix = {64, 64},
                        .box = {8, 64},
                        .element = "bf16",
                        .products = "1x1",
                        .accumulator = "0"};
    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
        return fputs(help, stdout) < 0;
    size_t c = 0, count = sizeof commands / sizeof commands[0];
    while (c < count && (argc < 2 || strcmp(argv[1], commands[c].name)))
        ++c;
    if (c == count) {
        fprintf(stderr, "error: inspect: %s\n%s", argc < 2 ? "no command" : "no such command",
                help);
        return USAGE;
    }
    o.rows = commands[c].run == descriptor_command ? 16 : 8;
    int option, index = 0;
    --argc, ++argv;
    while ((option = getopt_long(argc, argv, "h", long_options, &index)) != -1) {
        if (option == '?') return USAGE;
        if (option == 'h') return fputs(help, stdout) < 0;
        if ((option != 'v' || commands[c].run == sum_command) &&
            !strchr(commands[c].options, option))
            usage(long_options[index].name, optarg, "this command does not take it");
        set(&o, option, long_options[index].name, optarg);
    }
    if (optind < argc) usage(argv[optind], "", "unexpected argument");
    return commands[c].run(&o);
}
