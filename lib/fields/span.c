/* SPDX-License-Identifier: MIT */
#include "fields/span.h"

#include <string.h>

#include "fields/fields.h"

_Static_assert(PX_SPAN_FIELD_MAX == PX_FIELDS_PATH_MAX, "PX_SPAN_FIELD_MAX");

static const char keyword[] = "span ";

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static const char *skip_name(const char *text)
{
	if (!is_letter(*text))
		return NULL;
	while (is_letter(*text) || is_digit(*text))
		text++;
	return text;
}

static const char *skip_index(const char *text)
{
	const char *begin = text;

	while (is_digit(*text))
		text++;
	return text > begin && *text == ']' ? text + 1 : NULL;
}

bool px_span_is_path(const char *text)
{
	size_t length = strlen(text);

	text = skip_name(text);
	while (text && *text)
		text = *text == '.' ? skip_name(text + 1) : *text == '[' ? skip_index(text + 1) : NULL;
	return text && length <= PX_SPAN_FIELD_MAX;
}

static char *write_name(char *to, const char *name)
{
	*to++ = '"';
	for (size_t i = 0; name[i] && i < PX_SPAN_NAME_MAX; i++) {
		if (name[i] == '"' || name[i] == '\\')
			*to++ = '\\';
		*to++ = name[i];
	}
	*to++ = '"';
	return to;
}

size_t px_span_write(const char *begin, const char *end, const char *field, char text[PX_SPAN_TEXT_MAX + 1])
{
	char *to = text;

	memcpy(to, keyword, sizeof(keyword) - 1);
	to = write_name(to + sizeof(keyword) - 1, begin);
	memcpy(to, "..", 2);
	to = write_name(to + 2, end);
	if (field) {
		size_t length = strnlen(field, PX_SPAN_FIELD_MAX);

		memcpy(to, ": ", 2);
		memcpy(to + 2, field, length);
		to += 2 + length;
	}
	*to = '\0';
	return (size_t)(to - text);
}

/* What is left of a text. */
struct rest {
	const char *at, *end;
};

static bool take(struct rest *rest, const char *text)
{
	size_t length = strlen(text);

	if ((size_t)(rest->end - rest->at) < length || memcmp(rest->at, text, length) != 0)
		return false;
	rest->at += length;
	return true;
}

static bool take_name(struct rest *rest, char name[PX_SPAN_NAME_MAX + 1])
{
	size_t length = 0;

	if (!take(rest, "\""))
		return false;
	while (rest->at < rest->end && *rest->at != '"') {
		if (*rest->at == '\\' && ++rest->at == rest->end)
			return false;
		if (*rest->at == '\0' || length == PX_SPAN_NAME_MAX)
			return false;
		name[length++] = *rest->at++;
	}
	name[length] = '\0';
	return take(rest, "\"") && length > 0;
}

bool px_span_parse(const char *text, size_t length, struct px_span *span)
{
	struct rest rest = {text, text + length};
	size_t left;

	memset(span, 0, sizeof(*span));
	if (!take(&rest, keyword) || !take_name(&rest, span->begin) || !take(&rest, "..") ||
	    !take_name(&rest, span->end))
		return false;
	if (rest.at == rest.end)
		return true;
	if (!take(&rest, ": "))
		return false;
	left = (size_t)(rest.end - rest.at);
	if (left > PX_SPAN_FIELD_MAX || memchr(rest.at, '\0', left))
		return false;
	memcpy(span->field, rest.at, left);
	return px_span_is_path(span->field);
}
