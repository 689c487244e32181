/* SPDX-License-Identifier: MIT */
#include "event/trxc.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "event/eventset.h"
#include "event/names.h"
#include "txtb/txtb.h"

#define SYSTEM_PREFIX "posix_trace_"

/* All colours are dark, because TraceX shows white text on them. */
static const unsigned char colour[][3] = {
	{31, 73, 125}, {148, 54, 52}, {79, 98, 40},  {96, 74, 123}, {49, 104, 116}, {152, 72, 6},
	{64, 64, 64},  {120, 30, 90}, {20, 90, 50},  {110, 80, 20}, {60, 60, 140},  {130, 20, 20},
	{0, 100, 100}, {90, 50, 30},  {70, 20, 110}, {40, 80, 0},
};

/*
 * The labels of the first information word of these system events.  In all other events this word
 * holds the first bytes of the data.
 */
static const struct {
	unsigned int id;
	const char *label;
} first_label[] = {
	{PX_EVENT_ERROR, "Error"},
	{PX_EVENT_STOP, "Automatic"},
	{PX_EVENT_START, "Filter 0-31"},
	{PX_EVENT_FILTER, "Old filter 0-31"},
};

/*
 * System events with a fixed abbreviation.  The rule of make_abbreviation() would give some of them
 * the same letters.
 */
static const struct {
	const char *name; /* name without its prefix */
	char abbreviation[3];
} system_event[] = {
	{"start", "Go"},
	{"stop", "St"},
	{"flush_start", "F["},
	{"flush_stop", "F]"},
};

__attribute__((format(printf, 2, 3))) static void print(struct px_trxc *trxc, const char *format,
							...)
{
	char line[512]; /* the buffer is longer than any line */
	va_list arguments;
	size_t length;

	va_start(arguments, format);
	length = (size_t)vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (trxc->length < trxc->size)
		memcpy(trxc->buffer + trxc->length, line,
		       length < trxc->size - trxc->length ? length : trxc->size - trxc->length);
	trxc->length += length;
}

/* Replace commas, parentheses and all characters that are not printable ASCII. */
static char printable(char byte)
{
	switch (byte) {
	case ',':
		return ';';
	case '(':
		return '[';
	case ')':
		return ']';
	default:
		return byte < 0x20 || byte > 0x7E ? '?' : byte;
	}
}

static void make_name(const char *name, char text[PX_NAME_MAX + 1])
{
	size_t length = 0;

	while (length < PX_NAME_MAX && name[length]) {
		text[length] = printable(name[length]);
		length++;
	}
	text[length] = '\0';
	if (strspn(text, " ") == length)
		strcpy(text, "?");
}

static const char *next_word(const char *text)
{
	while (isalnum((unsigned char)*text))
		text++;
	while (*text && !isalnum((unsigned char)*text))
		text++;
	return text;
}

static bool find_system_abbreviation(const char *name, char text[3])
{
	for (size_t i = 0; i < PX_ARRAY_SIZE(system_event); i++)
		if (strcmp(name, system_event[i].name) == 0) {
			strcpy(text, system_event[i].abbreviation);
			return true;
		}
	return false;
}

/* Use the first letters of the first two words, or the first two letters of a single word. */
static void make_abbreviation(const char *name, char text[3])
{
	const char *first = name;
	const char *second;

	if (strncmp(first, SYSTEM_PREFIX, sizeof(SYSTEM_PREFIX) - 1) == 0) {
		first += sizeof(SYSTEM_PREFIX) - 1;
		if (find_system_abbreviation(first, text))
			return;
	}
	if (!isalnum((unsigned char)*first))
		first = next_word(first);
	second = next_word(first);
	text[0] = *first ? (char)toupper((unsigned char)*first) : '?';
	if (*second)
		text[1] = (char)toupper((unsigned char)*second);
	else
		text[1] = *first && isalnum((unsigned char)first[1]) ? first[1] : text[0];
	text[2] = '\0';
}

static const char *first_label_of(unsigned int txtb_id)
{
	for (size_t i = 0; i < PX_ARRAY_SIZE(first_label); i++)
		if (txtb_id == PX_TXTB_USER_EVENT + first_label[i].id)
			return first_label[i].label;
	return NULL;
}

void px_trxc_begin(struct px_trxc *trxc)
{
	print(trxc,
	      "User events of a trace of posixtrace, for TraceX: put this file into its folder\n"
	      "CustomEvents as tracex_custom.trxc, then open the trace.\nStart\n");
}

void px_trxc_add(struct px_trxc *trxc, unsigned int txtb_id, const char *name,
		 const char *const label[4])
{
	static const char *const bytes[] = {"Data 0-3", "Data 4-7", "Data 8-11", "Data 12-15"};
	const char *labels[4];
	const unsigned char *rgb = colour[txtb_id % PX_ARRAY_SIZE(colour)];
	char text[PX_NAME_MAX + 1], abbreviation[3];

	make_name(name, text);
	make_abbreviation(text, abbreviation);
	for (size_t i = 0; i < PX_ARRAY_SIZE(labels); i++)
		labels[i] = label && label[i] ? label[i] : bytes[i];
	if (!label && first_label_of(txtb_id))
		labels[0] = first_label_of(txtb_id);
	print(trxc, "%u, %s, %s, (%u, %u, %u), (%u, %u, %u), %s, %s, %s, %s\n", txtb_id, text,
	      abbreviation, rgb[0], rgb[1], rgb[2], rgb[0], rgb[1], rgb[2], labels[0], labels[1],
	      labels[2], labels[3]);
}

void px_trxc_end(struct px_trxc *trxc)
{
	print(trxc, "End\n");
}
