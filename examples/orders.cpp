// SPDX-License-Identifier: MIT
// orders FILE: a program in C++ that traces itself.  It records orders and the time that each takes into a log, and
// then prints the log.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <trace.hpp>

struct point {
	std::int16_t x, y;
};
TXTRACE_STRUCT(point, x, y);

enum class state : std::uint8_t { open, paid = 3 };

struct order {
	std::uint32_t id;
	double load;
	char name[12];
	point at[2];
	state now;
	bool is_urgent;
};
TXTRACE_STRUCT(order, id, load, name, at, now, is_urgent);

static const txtrace::event_type<order> recorded("order");
static const txtrace::event_type<std::uint64_t> sum("sum");
static const txtrace::event_type<> idle("idle");
static const txtrace::span work("work");
static const txtrace::keyed_span<std::uint32_t> delivery("delivery");

static void handle(std::uint32_t id)
{
	const txtrace::scope scope(work);
	order next{id, id / 4.0, "", {{-1, 2}, {std::int16_t(id), 4}}, state::paid, id % 2 == 1};

	std::snprintf(next.name, sizeof(next.name), "order-%u", unsigned(id));
	delivery.begin(id);
	recorded(next);
	delivery.end(id);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return EXIT_FAILURE;
	try {
		{
			txtrace::stream stream(argv[1], txtrace::attributes().name("orders"));

			stream.start();
			for (std::uint32_t id = 1; id <= 5; id++)
				handle(id);
			sum(15);
			idle();
			stream.shutdown();
		}
		txtrace::log log(argv[1]);

		for (const txtrace::event &event : log)
			if (event.facts.type == recorded.id())
				if (const auto found = event.as<order>())
					std::printf("%u %s %g\n", unsigned(found->id), found->name, found->load);
	} catch (const std::exception &error) {
		std::fprintf(stderr, "orders: %s\n", error.what());
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
