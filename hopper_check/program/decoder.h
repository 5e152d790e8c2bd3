/*
 * decoder.h: what the decoders of instructions use: the words of an opcode, and operands.
 *
 * A decoder takes the words and operands that it knows, in order. What is left, or does not fit,
 * makes the instruction one that is refused; the first reason counts.
 */
#ifndef PROGRAM_DECODER_H
#define PROGRAM_DECODER_H

#include "program/program.h"
#include "program/slots.h"

enum { WORDS = 20, WORD_LENGTH = 48 };

struct decoder {
    struct ptx_module *module;
    struct program *program, *kernel;
    struct slots slots;
    const struct ptx_instruction *source;
    struct operation *op;
    char word[WORDS][WORD_LENGTH]; /* of the opcode */
    int words, next;
    const char *why; /* the first reason for a refusal; NULL: there is none */
    /* The frame behind the registers: constants, special registers. */
    int used;
    struct constant {
        uint64_t bits;
        int bytes, at;
    } * constant;
    int constants;
};

/* ---- words ---- */

/* Takes the next word if it is `word`. */
bool take(struct decoder *d, const char *word);
/* Takes the next word if it is one of the list, which ends with NULL: its index; < 0: it is none.
 */
int take_one_of(struct decoder *d, const char *const *list);
void refuse(struct decoder *d, const char *why);
/* Refuses unless the next word is `word`. */
void require(struct decoder *d, const char *word);
/* The next word is a type. */
struct ptx_type take_type(struct decoder *d);
/* Refuses if there are words left. */
void no_more_words(struct decoder *d);
/* Refuses unless there are so many operands. */
void need_operands(struct decoder *d, int least, int most);

/* ---- operands ---- */

/*   p  a predicate                h w d  16, 32, 64 bits
 *   f g  fp32, fp64               H W D  a register at least that wide
 *   q  128 bits, of registers alone */

/* The offset of operand `i`, which is read. */
int read_operand(struct decoder *d, const struct ptx_operand *operand, char letter);
/* And which is written; `_` has an offset, too. */
int written_operand(struct decoder *d, const struct ptx_operand *operand, char letter);
/* All operands of an instruction, a letter for each, the first is written: at[0], at[1], ... */
void take_operands(struct decoder *d, const char *letters);
/* The value of an operand that has to be an immediate. */
int64_t immediate(struct decoder *d, const struct ptx_operand *operand);
/* The bytes of a register; 0: the operand is none. */
int register_bytes(const struct decoder *d, const struct ptx_operand *operand);
/* An address: at[i], op->offset, and whether at[i] has 32 bits or 64 in option[ADDRESS_BITS].
 * Variables are addressed in the same way. */
enum { ADDRESS_BITS = OPTIONS - 1 };
void take_address(struct decoder *d, int i, const struct ptx_operand *operand);
/* A vector, or a single operand: op->list. */
void take_list(struct decoder *d, const struct ptx_operand *operand, char letter, bool written);
/* The variable of that name: of the function, or of the module. */
const struct ptx_variable *find_variable(const struct decoder *d, const char *name);

/* The program of a function that the kernel calls, which may not be decoded yet. NULL: it is not in
 * this module. */
struct program *program_called(const struct decoder *d, const char *name);

typedef void decode_instruction(struct decoder *d);

#endif
