#include "feed_rows.h"

#include <simdjson.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

using simdjson::dom::element;
using simdjson::dom::object;

struct feed_rows {
  simdjson::dom::parser parser;
  std::vector<episode_row> rows;
  /// The memory of the strings: a block for each page, of the length of the page.
  std::vector<std::unique_ptr<char[]>> texts;
  char *text = nullptr;
  std::string next;
};

static episode_row read_item(feed_rows &rows, object item);
static void read_attributes(feed_rows &rows, object attributes, episode_row &row);
static void read_users(feed_rows &rows, size_t first, simdjson::dom::array users);
static void read_user(episode_row &row, object user);
static episode_text copy(feed_rows &rows, std::string_view text);
static double date(element value);

feed_rows *feed_rows_create() {
  try {
    return new feed_rows;
  } catch (const std::exception &) {
    return nullptr;
  }
}

void feed_rows_destroy(feed_rows *rows) { delete rows; }

void feed_rows_clear(feed_rows *rows) {
  rows->rows.clear();
  rows->texts.clear();
}

const char *feed_rows_read(
    feed_rows *rows, const char *page, size_t length, const char **next) {
  try {
    // The caller provides the padding, so simdjson need not copy the page.
    object document = rows->parser.parse(page, length, false);
    rows->texts.push_back(std::make_unique<char[]>(length));
    rows->text = rows->texts.back().get();
    const size_t first = rows->rows.size();
    for (element item : document["entities"].get_array()) {
      rows->rows.push_back(read_item(*rows, item.get_object()));
    }
    read_users(*rows, first, document["user"].get_array());
    std::string_view address;
    rows->next.clear();
    if (document["page"]["next"].get_string().get(address) == simdjson::SUCCESS) {
      rows->next = address;
    }
    *next = rows->next.c_str();
    return nullptr;
  } catch (const simdjson::simdjson_error &error) {
    return simdjson::error_message(error.error());
  } catch (const std::exception &) {
    return "no memory";
  }
}

const episode_row *feed_rows_all(const feed_rows *rows, size_t *count) {
  *count = rows->rows.size();
  return rows->rows.data();
}

static episode_row read_item(feed_rows &rows, object item) {
  episode_row row = {};
  row.published_at = row.updated_at = NAN;
  row.favorite_at = row.watch_later_at = row.watched_at = NAN;
  for (auto [name, value] : item) {
    if (name == "id") row.id = copy(rows, value);
    else if (name == "updatedAt") row.updated_at = date(value);
    else if (name == "attrs") read_attributes(rows, value.get_object(), row);
  }
  return row;
}

static void read_attributes(feed_rows &rows, object attributes, episode_row &row) {
  for (auto [name, value] : attributes) {
    if (name == "title") row.title = copy(rows, value);
    else if (name == "summary") row.summary = copy(rows, value);
    else if (name == "type") row.type = value;
    else if (name == "duration") row.duration = value;
    else if (name == "url") row.url = copy(rows, value);
    else if (name == "path") row.path_id = copy(rows, value);
    else if (name == "position") row.position = value;
    else if (name == "publishedAt") row.published_at = date(value);
  }
}

/// Adds the users' values. Entries are in the order of their episodes, so each search starts after
/// the last match.
static void read_users(feed_rows &rows, size_t first, simdjson::dom::array users) {
  const size_t count = rows.rows.size() - first;
  size_t place = 0;
  for (element entry : users) {
    object user = entry.get_object();
    const std::string_view id = user["id"];
    for (size_t tried = 0; tried < count; tried++, place = (place + 1) % count) {
      episode_row &row = rows.rows[first + place];
      if (std::string_view(row.id.bytes, row.id.length) != id) continue;
      read_user(row, user);
      break;
    }
  }
}

static void read_user(episode_row &row, object user) {
  for (auto [name, value] : user) {
    if (name == "favoriteAt") row.favorite_at = date(value);
    else if (name == "watchLaterAt") row.watch_later_at = date(value);
    else if (name == "watchedAt") row.watched_at = date(value);
    else if (name == "progress") row.progress = value;
  }
}

static episode_text copy(feed_rows &rows, std::string_view text) {
  char *bytes = rows.text;
  memcpy(bytes, text.data(), text.size());
  rows.text += text.size();
  return {bytes, static_cast<uint32_t>(text.size())};
}

/// Converts `2026-01-02T03:04:05Z` to seconds since 2001. The server sends no other form.
static double date(element value) {
  const std::string_view text = value;
  if (text.size() != 20) throw simdjson::simdjson_error(simdjson::INCORRECT_TYPE);
  auto number = [&](size_t place, size_t digits) {
    int result = 0;
    for (size_t digit = 0; digit < digits; digit++) {
      result = result * 10 + (text[place + digit] - '0');
    }
    return result;
  };
  // Days since 1970 by Howard Hinnant's days_from_civil: years begin in March.
  const int month = number(5, 2), year = number(0, 4) - (month <= 2);
  const int era = year / 400, year_of_era = year - era * 400;
  const int day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + number(8, 2) - 1;
  const int day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  const double days = era * 146097.0 + day_of_era - 719468;
  return days * 86400 + number(11, 2) * 3600 + number(14, 2) * 60 + number(17, 2) - 978307200;
}
