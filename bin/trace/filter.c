/* SPDX-License-Identifier: MIT */
#include "trace/filter.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/message.h"
#include "trace/calldata.h"
#include "trace/filter_private.h"
#include "trace/origins.h"
#include "trace/payload.h"

static const struct {
	const char *name;
	enum field field;
	unsigned int bytes;
} fields[] = {
	{"host", FIELD_HOST, 0},
	{"event", FIELD_EVENT, 0},	 {"thread", FIELD_THREAD, 0}, {"object", FIELD_OBJECT, 0},
	{"data", FIELD_DATA, 0},	 {"time", FIELD_TIME, 0},     {"type", FIELD_TYPE, 0},
	{"context", FIELD_CONTEXT, 0},	 {"pid", FIELD_PID, 0},	      {"cpu", FIELD_CPU, 0},
	{"priority", FIELD_PRIORITY, 0}, {"size", FIELD_SIZE, 0},     {"address", FIELD_ADDRESS, 0},
	{"number", FIELD_NUMBER, 0},	 {"u8", FIELD_UNSIGNED, 1},   {"u16", FIELD_UNSIGNED, 2},
	{"u32", FIELD_UNSIGNED, 4},	 {"u64", FIELD_UNSIGNED, 8},  {"i8", FIELD_SIGNED, 1},
	{"i16", FIELD_SIGNED, 2},	 {"i32", FIELD_SIGNED, 4},    {"i64", FIELD_SIGNED, 8},
};

/* Parsing. */

#define DEPTH_MAX 100

struct parser {
	const char *begin, *at;
	bool is_wrong;
	int depth; /* depth of nested brackets and "not" */
};

static struct filter *parse_or(struct parser *parser);
static struct filter *parse_not(struct parser *parser);

static void *complain(struct parser *parser, const char *what)
{
	if (!parser->is_wrong)
		message(*parser->at ? "filter: %s, at \"%s\"" : "filter: %s, at its end", what,
			parser->at);
	parser->is_wrong = true;
	return NULL;
}

static void skip_blanks(struct parser *parser)
{
	while (isspace((unsigned char)*parser->at))
		parser->at++;
}

/* If the next word is this keyword, skip the word and return true. */
static bool take_word(struct parser *parser, const char *word)
{
	size_t length = strlen(word);

	skip_blanks(parser);
	if (strncmp(parser->at, word, length) != 0 ||
	    (parser->at[length] && !isspace((unsigned char)parser->at[length]) &&
	     parser->at[length] != '('))
		return false;
	parser->at += length;
	return true;
}

/* Read a value: a string in quotes, or everything up to a blank or a bracket. */
static char *take_value(struct parser *parser)
{
	char quote = *parser->at == '"' || *parser->at == '\'' ? *parser->at : '\0';
	const char *begin = parser->at + (quote != '\0');
	const char *end = begin;
	char *value;

	while (*end && (quote ? *end != quote :
				!isspace((unsigned char)*end) && *end != '(' && *end != ')'))
		end++;
	if (quote && !*end)
		return complain(parser, "the quote does not end");
	if (!quote && end == begin)
		return complain(parser, "a value is missing");
	value = must(strndup(begin, (size_t)(end - begin)));
	parser->at = end + (quote != '\0');
	return value;
}

static bool take_operator(struct parser *parser, enum comparison *operator)
{
	static const struct {
		const char *text;
		enum comparison operator;
	} table[] = {{"!=", OPERATOR_UNEQUAL}, {"<=", OPERATOR_AT_MOST}, {">=", OPERATOR_AT_LEAST},
		     {"<", OPERATOR_LESS},     {">", OPERATOR_MORE},	 {"==", OPERATOR_EQUAL},
		     {"=", OPERATOR_EQUAL},    {":", OPERATOR_EQUAL},	 {"~", OPERATOR_EQUAL}};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (strncmp(parser->at, table[i].text, strlen(table[i].text)) != 0)
			continue;
		parser->at += strlen(table[i].text);
		*operator= table[i].operator;
		return true;
	}
	return false;
}

static struct filter *make(enum kind kind, struct filter *left, struct filter *right)
{
	struct filter *filter = must(calloc(1, sizeof(*filter)));

	filter->kind = kind;
	filter->left = left;
	filter->right = right;
	return filter;
}

static bool is_text(enum field field)
{
	return field == FIELD_EVENT || field == FIELD_WORD || field == FIELD_HOST || field == FIELD_THREAD ||
	       field == FIELD_OBJECT || field == FIELD_DATA;
}

/* Read a whole number.  If the number has no sign, it may use all 64 bits. */
static bool read_number(struct filter *test)
{
	char *end = NULL;

	errno = 0;
	test->number = *test->text == '-' ? strtoll(test->text, &end, 0) :
					    (int64_t)strtoull(test->text, &end, 0);
	return *end == '\0' && end != test->text && errno == 0;
}

/* Read a number with or without a fraction. */
static void read_real(struct filter *test)
{
	char *end;

	test->real = strtold(test->text, &end);
	test->is_real = end != test->text && *end == '\0';
	if (test->is_number) /* also in other bases than 10, and exactly */
		test->real = *test->text == '-' ? (long double)test->number :
						  (long double)(uint64_t)test->number;
}

static struct filter *finish_test(struct parser *parser, struct filter *test)
{

	skip_blanks(parser);
	test->text = take_value(parser);
	if (!test->text)
		goto wrong;
	test->text_size = strlen(test->text);
	if (is_text(test->field)) {
		if (test->operator!= OPERATOR_EQUAL && test->operator!= OPERATOR_UNEQUAL) {
			complain(parser, "texts can be compared only with = and !=");
			goto wrong;
		}
		return test;
	}
	if (test->field == FIELD_TIME) {
		if (!time_arg_parse(test->text, &test->time_arg)) {
			parser->is_wrong = true;
			goto wrong;
		}
		return test;
	}
	test->is_number = read_number(test);
	if (test->field == FIELD_CALL)
		read_real(test);
	if (test->is_number || test->is_real ||
	    (test->field == FIELD_CALL &&
	     (test->operator== OPERATOR_EQUAL || test->operator== OPERATOR_UNEQUAL)))
		return test;
	complain(parser, "a number is missing");
wrong:
	filter_free(test);
	return NULL;
}

/* Read data.NAME and an operator.  If the text has something else here, read nothing and return false. */
static bool take_call_field(struct parser *parser, struct filter *test)
{
	const char *before = parser->at, *name = before + strlen("data.");
	size_t length;

	if (strncmp(before, "data.", strlen("data.")) != 0)
		return false;
	for (length = 0; isalnum((unsigned char)name[length]) || (name[length] && strchr("_.[]", name[length]));)
		length++;
	parser->at = name + length;
	skip_blanks(parser);
	if (length == 0 || !take_operator(parser, &test->operator)) {
		parser->at = before;
		return false;
	}
	test->field = FIELD_CALL;
	test->name = must(strndup(name, length));
	return true;
}

/* Read FIELD[OFFSET] and an operator.  If the text has something else here, read nothing and return false. */
static bool take_field(struct parser *parser, struct filter *test)
{
	const char *before = parser->at;

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		size_t length = strlen(fields[i].name);
		int used = 0;

		if (strncmp(before, fields[i].name, length) != 0)
			continue;
		parser->at = before + length;
		test->field = fields[i].field;
		test->bytes = fields[i].bytes;
		test->offset = 0;
		if (test->bytes > 0 && *parser->at == '[') {
			if (sscanf(parser->at, "[%u]%n", &test->offset, &used) < 1 || used == 0) {
				complain(parser, "an offset is missing");
				return false;
			}
			parser->at += used;
		}
		skip_blanks(parser);
		if (take_operator(parser, &test->operator))
			return true;
	}
	parser->at = before;
	return false;
}

/*
 * A mistyped field name must cause an error.  Without this check, the name would be a pattern for event names.  The
 * pattern would match no event, and the user would get no message.
 */
static bool looks_like_field(const struct parser *parser)
{
	size_t length = strspn(parser->at, "abcdefghijklmnopqrstuvwxyz0123456789_");
	size_t with_index = strspn(parser->at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.[]");
	size_t blanks = strspn(parser->at + with_index, " \t");

	/* "field > 3": no event has a name that begins so. */
	if (with_index > 0 && blanks > 0 && strchr(":=!<>~", parser->at[with_index + blanks]) &&
	    parser->at[with_index + blanks])
		return true;
	return (length > 0 && parser->at[length] && strchr(":=!<>~", parser->at[length])) ||
	       (with_index > 0 && parser->at[with_index] && strchr("=!<>", parser->at[with_index]));
}

static struct filter *parse_test(struct parser *parser)
{
	struct filter *test = make(KIND_TEST, NULL, NULL);

	if (!take_call_field(parser, test) && !take_field(parser, test)) {
		test->field = FIELD_WORD;
		test->operator= OPERATOR_EQUAL;
		if (!parser->is_wrong && looks_like_field(parser))
			complain(parser, "there is no such field; put the name of an event into "
					 "quotes if it has : = ! < or >");
	}
	if (!parser->is_wrong)
		return finish_test(parser, test);
	filter_free(test);
	return NULL;
}

static struct filter *parse_inner(struct parser *parser)
{
	struct filter *inner;

	if (take_word(parser, "not")) {
		inner = parse_not(parser);
		return inner ? make(KIND_NOT, inner, NULL) : NULL;
	}
	skip_blanks(parser);
	if (*parser->at != '(')
		return parse_test(parser);
	parser->at++;
	inner = parse_or(parser);
	skip_blanks(parser);
	if (inner && *parser->at != ')') {
		complain(parser, "a ) is missing");
		filter_free(inner);
		return NULL;
	}
	parser->at += inner != NULL;
	return inner;
}

static struct filter *parse_not(struct parser *parser)
{
	struct filter *filter;

	if (parser->depth == DEPTH_MAX)
		return complain(parser, "the expression is nested too deeply");
	parser->depth++;
	filter = parse_inner(parser);
	parser->depth--;
	return filter;
}

/* Return true if another operand of "and" follows. */
static bool goes_on(struct parser *parser)
{
	struct parser ahead;

	skip_blanks(parser);
	ahead = *parser;
	return *parser->at && *parser->at != ')' && !take_word(&ahead, "or");
}

static struct filter *parse_and(struct parser *parser)
{
	struct filter *left = parse_not(parser);

	while (left && goes_on(parser)) {
		struct filter *right;

		take_word(parser, "and");
		right = parse_not(parser);
		if (!right) {
			filter_free(left);
			return NULL;
		}
		left = make(KIND_AND, left, right);
	}
	return left;
}

static struct filter *parse_or(struct parser *parser)
{
	struct filter *left = parse_and(parser);

	while (left && take_word(parser, "or")) {
		struct filter *right = parse_and(parser);

		if (!right) {
			filter_free(left);
			return NULL;
		}
		left = make(KIND_OR, left, right);
	}
	return left;
}

struct filter *filter_parse(const char *expression)
{
	struct parser parser = {.begin = expression, .at = expression};
	struct filter *filter = parse_or(&parser);

	skip_blanks(&parser);
	if (!filter || !*parser.at)
		return filter;
	complain(&parser, "there is more text after the expression");
	filter_free(filter);
	return NULL;
}

void filter_free(struct filter *filter)
{
	if (!filter)
		return;
	filter_free(filter->left);
	filter_free(filter->right);
	free(filter->text);
	free(filter->name);
	filter_free_types(filter);
	free(filter);
}

/* Matching events. */

bool filter_compares(enum comparison operator, int order)
{
	switch (operator) {
	case OPERATOR_EQUAL:
		return order == 0;
	case OPERATOR_UNEQUAL:
		return order != 0;
	case OPERATOR_LESS:
		return order < 0;
	case OPERATOR_AT_MOST:
		return order <= 0;
	case OPERATOR_MORE:
		return order > 0;
	default:
		return order >= 0;
	}
}

static bool compare(int64_t a, enum comparison operator, int64_t b)
{
	return filter_compares(operator, (a > b) - (a < b));
}

static bool compare_unsigned(uint64_t a, enum comparison operator, uint64_t b)
{
	return filter_compares(operator, (a > b) - (a < b));
}

bool filter_short_thread(const struct txtrace_object *thread, const char *name, char text[FILTER_THREAD_BYTES])
{
	size_t length = strlen(name);
	char tid[16];
	size_t size;

	if (!thread || thread->tid <= 0)
		return false;
	size = (size_t)snprintf(tid, sizeof(tid), " %d", thread->tid);
	if (length <= size || length - size >= FILTER_THREAD_BYTES || strcmp(name + length - size, tid) != 0)
		return false;
	memcpy(text, name, length - size);
	text[length - size] = '\0';
	return true;
}

static bool matches_thread(const struct filter *filter, const struct source *source, const struct event *event)
{
	char name[FILTER_THREAD_BYTES];

	return fnmatch(filter->text, event->thread, 0) == 0 ||
	       (filter_short_thread(source_object(source, event->context), event->thread, name) &&
		fnmatch(filter->text, name, 0) == 0);
}

/* Compare the names of the objects that print shows in the fields of a call. */
static bool matches_object_of_call(const struct filter *filter, struct source *source,
				   const struct event *event)
{
	struct call_field field;

	for (size_t i = 0; calldata_at(source, event, i, &field); i++)
		if (field.object && fnmatch(filter->text, field.object, 0) == 0)
			return true;
	return false;
}

static bool matches_object(const struct filter *filter, struct source *source,
			   const struct event *event)
{
	if (event->is_call)
		return matches_object_of_call(filter, source, event);
	for (int i = 0; i < 4; i++) {
		const struct txtrace_object *object = source_object(source, event_word(event, i));

		if (event->size >= 4 * (size_t)i + 4 && object &&
		    object->type != OBJECT_EVENT_TYPE &&
		    fnmatch(filter->text, object->name, 0) == 0)
			return true;
	}
	return false;
}

static bool matches_data(const struct filter *filter, const struct source *source, const struct event *event)
{
	uint64_t number;

	if (event->size < filter->bytes || filter->offset > event->size - filter->bytes)
		return false;
	number = payload_number(source, event, filter->offset, filter->bytes);
	if (filter->field == FIELD_UNSIGNED)
		return compare_unsigned(number, filter->operator,(uint64_t) filter->number);
	number <<= 64 - 8 * filter->bytes;
	return compare((int64_t)number >> (64 - 8 * filter->bytes), filter->operator,
		       filter->number);
}

/* An event without this field does not match, not even with "!=". */
static bool matches_call(const struct filter *filter, struct source *source,
			 const struct event *event)
{
	struct px_field_value value;
	struct call_field field;

	if (payload_get(source, event, filter->name, &value))
		return filter_matches_value(filter, &value);
	if (!calldata_is(source, event) || !calldata_get(source, event, filter->name, &field))
		return false;
	if (filter->is_number)
		return compare(field.value, filter->operator, filter->number);
	return (fnmatch(filter->text, field.text, 0) == 0 ||
		(field.object && fnmatch(filter->text, field.object, 0) == 0)) !=
	       (filter->operator== OPERATOR_UNEQUAL);
}

static bool test(const struct filter *filter, struct source *source, const struct event *event)
{
	bool inverted = filter->operator== OPERATOR_UNEQUAL;
	int64_t number = 0;

	switch (filter->field) {
	case FIELD_EVENT:
		return filter_matches_type(filter, source, event) != inverted;
	case FIELD_WORD:
		return filter_matches_word(filter, source, event);
	case FIELD_HOST:
		return (fnmatch(filter->text, source_host(source, event->pid), 0) == 0) != inverted;
	case FIELD_THREAD:
		return matches_thread(filter, source, event) != inverted;
	case FIELD_OBJECT:
		return matches_object(filter, source, event) != inverted;
	case FIELD_DATA:
		return (memmem(event->data, event->size, filter->text, filter->text_size) !=
			NULL) != inverted;
	case FIELD_CALL:
		return matches_call(filter, source, event);
	case FIELD_UNSIGNED:
	case FIELD_SIGNED:
		return matches_data(filter, source, event);
	case FIELD_ADDRESS:
		return compare_unsigned(event->address, filter->operator,(uint64_t) filter->number);
	case FIELD_TIME:
		return compare(event->time_ns, filter->operator,
			       time_arg_ns(&filter->time_arg, source));
	case FIELD_TYPE:
		number = (int64_t)event->type;
		break;
	case FIELD_CONTEXT:
		number = event->context;
		break;
	case FIELD_PID:
		number = event->pid;
		break;
	case FIELD_CPU:
		number = event->cpu;
		break;
	case FIELD_PRIORITY:
		number = event->priority;
		break;
	case FIELD_SIZE:
		number = (int64_t)event->size;
		break;
	case FIELD_NUMBER:
		number = (int64_t)event->number;
		break;
	}
	return compare(number, filter->operator, filter->number);
}

bool filter_takes(const struct filter *filter, struct source *source, const struct event *event)
{
	if (!filter)
		return true;
	if (event->of) /* test the event from which a synthesized event was made */
		event = event->of;
	switch (filter->kind) {
	case KIND_OR:
		return filter_takes(filter->left, source, event) ||
		       filter_takes(filter->right, source, event);
	case KIND_AND:
		return filter_takes(filter->left, source, event) &&
		       filter_takes(filter->right, source, event);
	case KIND_NOT:
		return !filter_takes(filter->left, source, event);
	default:
		return test(filter, source, event);
	}
}
