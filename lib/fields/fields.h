/* SPDX-License-Identifier: MIT */
/*
 * Descriptions of the data of an event type: their fields, as a text that people write, and the values of the fields.
 *
 * A description is a list of declarations.  It has one of two forms, which its types show; a description that mixes the
 * types of both forms is wrong.
 *
 *	short form	u32 id; pad 4; f64 load; char name[24]
 *	C form		uint32_t id; double load; char name[24];
 *
 *	description	declaration { ; declaration } [;]  |  reference
 *	declaration	type declarator { , declarator }  |  pad NUMBER  |  definition
 *	declarator	{ * } NAME { [ NUMBER ] }  |  { * } NAME [ ]  |  [ NAME ] : WIDTH
 *	type		number  |  bool  |  char  |  struct-or-union  |  enum
 *	number		short form	u8 u16 u32 u64  i8 i16 i32 i64  f32 f64  ptr  long_double
 *			C form		the integer and floating types of C, the types of <stdint.h>, size_t, ssize_t,
 *					ptrdiff_t; "type *" is an address
 *	struct-or-union	( struct | union ) [ TAG ] [ { declarations } ]
 *	enum		enum [ TAG ] [ : number ] [ { NAME [ = INTEGER ] , ... } ]
 *	definition	struct-or-union or enum, with a tag and a list, and without a declarator
 *	reference	( struct | union ) TAG  |  NAME, and nothing else: a type of the program, which only its
 *			debugging information describes
 *
 * A tag may be used after its definition.  The members of a struct or union without a tag and a declarator are members
 * of the structure around it.  If a description has definitions only, the last struct or union is the data.  Blanks,
 * comments, const and volatile mean nothing.  NAME[] is the rest of the data; it must be the last member, and not
 * within another structure.  An array of char is a text: it ends at its first null byte.
 *
 * Layout.  In the short form nothing is aligned: each field begins at the byte after the one before, and a bit-field at
 * the next bit.  pad skips bytes; ": 5" without a name skips bits.  In the C form fields have their natural alignment,
 * and bit-fields lie as the System V ABI says.  In both, the bits of a byte are numbered from the lowest one, or from
 * the highest one if the data have the other end first (is_big).  Without a number, an enum takes four bytes.
 *
 * Limits: a text of PX_FIELDS_TEXT_MAX bytes, PX_FIELDS_MAX declarators, structures in PX_FIELDS_DEPTH levels, arrays
 * of PX_FIELDS_DIMS dimensions, PX_FIELDS_SIZE_MAX bytes of data, and PX_FIELDS_VALUES_MAX values in them.  No text
 * takes more memory or time than these limits allow.
 *
 * This folder needs nothing but the C library, because the tool links it, too.  Texts and data are untrusted.
 */
#ifndef PX_FIELDS_FIELDS_H
#define PX_FIELDS_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PX_FIELDS_TEXT_MAX 4095
#define PX_FIELDS_MAX 1024
#define PX_FIELDS_DEPTH 16
#define PX_FIELDS_DIMS 4
#define PX_FIELDS_SIZE_MAX (UINT32_C(1) << 20)
#define PX_FIELDS_VALUES_MAX 65536

/* The kind of machine whose data a description in the C form describes. */
struct px_fields_model {
	uint8_t of_long; /* sizes in bytes */
	uint8_t of_pointer;
	uint8_t of_long_double;
	uint8_t long_double_digits; /* LDBL_MANT_DIG, which tells its format; 0: not known */
	uint8_t align_max; /* the largest alignment of a member */
	bool is_big;	   /* the highest byte of a number comes first */
};

enum px_field_kind {
	PX_FIELD_UNSIGNED,
	PX_FIELD_SIGNED,
	PX_FIELD_FLOAT,
	PX_FIELD_BOOL,
	PX_FIELD_CHAR, /* one character; an array is a text */
	PX_FIELD_POINTER,
	PX_FIELD_ENUM,
	PX_FIELD_STRUCT /* also a union */
};

struct px_enum_name {
	const char *name;
	int64_t value;
	struct px_enum_name *next;
};

struct px_enum {
	const char *tag;
	uint32_t size;
	bool is_signed;
	struct px_enum_name *names; /* in the order of the description */
	struct px_enum *next;
};

struct px_field {
	const char *name; /* NULL: a structure whose members belong to the one around it */
	enum px_field_kind kind;
	uint32_t bit;	  /* where it begins in its structure, in bits */
	uint32_t bits;	  /* width of a bit-field; 0: no bit-field */
	uint32_t size;	  /* of one element, in bytes */
	uint32_t nr_dims; /* 0: no array */
	uint32_t dim[PX_FIELDS_DIMS];
	bool is_rest; /* the array goes to the end of the data */
	const struct px_struct *of;   /* of a PX_FIELD_STRUCT */
	const struct px_enum *names; /* of a PX_FIELD_ENUM */
	struct px_field *next;
};

struct px_struct {
	const char *tag;
	bool is_union;
	uint32_t size, align;
	uint32_t depth;	    /* levels of structures in it, with itself */
	uint32_t nr_values; /* a text counts as one value */
	struct px_field *first, *last;
	struct px_struct *next;
};

struct px_fields {
	const struct px_struct *top; /* NULL: a reference */
	const char *reference;	     /* "struct order", with one blank, or "order_t" */
	bool is_big;
	uint8_t long_double_digits;
	void *memory; /* all of it */
};

struct px_fields_error {
	size_t column; /* of the byte at fault, from 1 */
	const char *what;
};

/* Return the model of this machine. */
struct px_fields_model px_fields_native(void);

/* Return true if data of this model are as on this machine. */
bool px_fields_is_native(const struct px_fields_model *model);

/*
 * Parse a text of `length` bytes.  Return 0, EINVAL with *error filled in, or ENOMEM.  The caller frees *fields with
 * px_fields_free(), which takes NULL, too.  Not async-signal-safe, because it allocates memory.
 */
int px_fields_parse(const char *text, size_t length, const struct px_fields_model *model,
		    struct px_fields **fields, struct px_fields_error *error);
void px_fields_free(struct px_fields *fields);

/* A value of a field, or of an element of an array. */
struct px_field_value {
	enum px_field_kind kind;
	bool is_text;	    /* a text, in text and length */
	bool is_cut;	    /* a text of which the data have only the beginning */
	bool is_signed;	    /* read the number as int64_t */
	uint64_t number;    /* of an integer, bool, char, address or enum; two's complement if is_signed */
	double real;	    /* of a PX_FIELD_FLOAT */
	unsigned int digits; /* of a PX_FIELD_FLOAT: with so many significant digits it can be read back */
	const char *name;   /* of an enum; NULL: the number has no name */
	const char *text;   /* in the data, without a null byte */
	size_t length;
};

enum px_fields_step {
	PX_FIELDS_VALUE,
	PX_FIELDS_BEGIN_STRUCT,
	PX_FIELDS_END_STRUCT,
	PX_FIELDS_BEGIN_ARRAY,
	PX_FIELDS_END_ARRAY
};

/* name is NULL for an element of an array, and value is NULL except with PX_FIELDS_VALUE. */
typedef void px_fields_visit(void *argument, enum px_fields_step step, const char *name,
			     const struct px_field_value *value);

/*
 * Call visit() for each value that the data have whole, and for the beginning of a text, in the order of the
 * description.  A long double whose format is not known has no value.  Return how many bytes the type takes; a type
 * with an array to the end of the data takes them all.  If this is more than `size`, values are missing.
 */
size_t px_fields_walk(const struct px_fields *fields, const unsigned char *data, size_t size,
		      px_fields_visit *visit, void *argument);

/* A field within the data, which a path names. */
struct px_field_place {
	const struct px_field *field;
	uint64_t bit;
	bool is_text; /* an array of char */
};

/*
 * Find the field of a path such as "load", "at.x" or "part[2].name".  Return false if there is no such field, or if it
 * is a structure or an array that is not a text.
 */
bool px_fields_find(const struct px_fields *fields, const char *path, struct px_field_place *place);

#define PX_FIELDS_PATH_MAX 255

typedef void px_fields_name(void *argument, const char *path, const struct px_field_place *place);

/*
 * Call name() for the path of each single value, such as "load" or "at[1].x", in the order of the description, but at
 * most for `most` values.  A text is one value.  The elements of an array that takes the rest of the data, and values
 * with a path of more than PX_FIELDS_PATH_MAX bytes, are left out.  The path is valid during the call.
 */
void px_fields_list(const struct px_fields *fields, uint32_t most, px_fields_name *name, void *argument);

/* Get the value of a place.  Return false if the data do not have it whole; a cut text is there. */
bool px_fields_get(const struct px_fields *fields, const struct px_field_place *place,
		   const unsigned char *data, size_t size, struct px_field_value *value);

/* Find the number of a name of an enum.  Return false if it has no such name. */
bool px_fields_enum_number(const struct px_enum *names, const char *name, int64_t *number);

#endif
