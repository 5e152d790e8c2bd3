/*
 * options.h: the command line.
 */
#ifndef HARNESS_OPTIONS_H
#define HARNESS_OPTIONS_H

#include "backend.h"
#include "harness/inputs.h"
#include "harness/reference.h"
#include "harness/registry.h"

struct options {
    int m, n, k;
    bool usual_extents; /* none of the three was given */
    bool usual_type;    /* --dtype was not given */
    bool usual_k;       /* nor --k */
    enum input_kind input;
    uint64_t seed;
    int timing;          /* TIMING_ flags */
    int iterations;      /* rounds of each timing mode; 0: the default */
    const char *variant; /* NULL: the chapter's own kernel */
    uint32_t chapters;   /* tour: bit c for chapter c */
    bool json;
    bool check;                       /* the runs of harness/check.h instead of one */
    const char *given;                /* the last option that --check has no use for; NULL: none */
    const char *trace, *csv, *report; /* NULL: not asked for */
    int trace_sms;                    /* SMs of each GPU in the trace */
    int explain;                      /* the mbarrier whose life is to be printed; -1: none */
    struct backend_options backend;   /* the type of the elements is in here */
    enum gemm_early early;            /* when launches may begin, of kernels that are for it */
    enum pitches pitches;             /* of A, B and D */
    enum padding padding;             /* around what the kernel reads */
};

enum options_outcome { OPTIONS_RUN, OPTIONS_HELP, OPTIONS_BAD };

/* Reads the command line; complains once if it is bad. The files and directories named in it have
 * been tried. */
enum options_outcome options_read(struct options *options, int argc, char **argv);

/* What --m, --n and --k are if they are not given. */
void default_extents(int *m, int *n, int *k);
/* And --dtype. */
enum gemm_type default_type(void);

/* The chapter's number: 6 of "06_wgmma"; 0 if the name begins with none. */
int chapter_of_kernel(const struct gemm_kernel *kernel);

/* A whole number in decimal and nothing else, from low to high. */
bool parse_whole(const char *text, uint64_t low, uint64_t high, uint64_t *value);
/* "1024x1152x640": the extents of a problem, each as large as --m may be. */
bool parse_extents(const char *text, int *m, int *n, int *k);
/* The option of this name that the backend or the program's kind of problem has; or NULL. */
struct backend_setting *find_setting(const char *name);
/* Sets it to what the text says. False after a complaint. */
bool read_setting(struct backend_setting *setting, const char *text);
/* Can a kind's options be had together? False after a complaint. */
struct problem_kind;
bool kind_accepts(const struct problem_kind *kind);
/* Its options as a command line has them, to stdout. */
void print_kind_options(const struct problem_kind *kind);
/* Is it what backend_settings[index] had before the command line was read? */
bool setting_is_usual(int index, uint64_t value);
/* What the option takes for this value: a name if the setting has names, else the number, which is
 * written to `text`. */
const char *setting_word(const struct backend_setting *setting, uint64_t value, char text[24]);
/* The kind of the program's own kernel, whose options it has; a tour's: the product. */
const struct problem_kind *kind_of_program(void);
/* The index of a name in a list, or -1. */
int find_name(const char *text, const char *const *names, int count);

extern const char *const early_names[];             /* by enum gemm_early */
extern const char *const pitch_names[];             /* by enum pitches */
extern const char *const type_names[ELEMENT_TYPES]; /* by enum gemm_type */
/* "fp16 or bf16": the types for which there is a kernel. Returns text. */
const char *type_list(const struct gemm_kernel *const of_type[ELEMENT_TYPES], char text[32]);
/* The same for all kernels of the program. Returns how many types there are. */
int program_types(char text[32]);

#endif
