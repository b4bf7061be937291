"use strict";
// Instants are minutes since the epoch, as in the data; a wall time is an instant plus the offset of its zone.
(() => {
  const DAY = 1440, WEEK = 7 * DAY, SHOWN = 24, CHARTS = 4, HUES = 8;
  const LENGTH = { week: 7, day: 1, list: 14 }; // days of a view
  const SVG = "http://www.w3.org/2000/svg";
  const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
  const WEEK_DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
  const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
  const MARKS = {
    moved: "moved", extra: "extra date", otherSeats: "other seats than usual", onHoliday: "on a holiday",
    overnight: "overnight", gap: "clocks go forward", fold: "clocks go back", suspended: "suspended",
  };
  const data = JSON.parse(document.getElementById("Data").textContent);
  const at = (id) => document.getElementById(id);
  const CONTROLS = { view: "View", search: "Search", cluster: "Cluster", class: "Class", zone: "Zone", color: "Color" };
  const now = Math.floor(Date.now() / 60000);
  const narrow = matchMedia("(max-width: 60rem)").matches; // a phone, or a narrow window
  // What the address keeps, so that "my course" is a link; the other parts of `state` are of this visit.
  const usual = { view: narrow ? "list" : "week", date: "", search: "", cluster: "", class: "", zone: data.zone, color: "class", keys: "on" };
  const state = { ...usual, all: new Set() };

  // Elements

  function make(tag, attributes = {}, ...children) {
    const found = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
      if (value !== false && value !== undefined) found.setAttribute(key, value === true ? "" : value);
    }
    found.append(...children.filter((child) => child !== "" && child !== null));
    return found;
  }

  function draw(tag, attributes, ...children) {
    const found = document.createElementNS(SVG, tag);
    for (const [key, value] of Object.entries(attributes)) found.setAttribute(key, value);
    found.append(...children);
    return found;
  }

  const counted = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;

  // Time

  const offsets = new Map(), formats = new Map();

  function offset(zone, instant) {
    const [known, until] = data.zones[zone] || [[], 0]; // what Berth calculated with; else what the browser knows
    if (known[0] <= instant && instant < until) {
      let i = known.length - 2;
      while (known[i] > instant) i -= 2;
      return known[i + 1];
    }
    const key = zone + Math.floor(instant / 30);
    if (!offsets.has(key)) offsets.set(key, browserOffset(zone, instant, known[known.length - 1] || 0));
    return offsets.get(key);
  }

  function browserOffset(zone, instant, otherwise) {
    try {
      return Math.round(wallParts(zone, instant) / 60000) - instant;
    } catch {
      return otherwise; // this browser does not know the zone
    }
  }

  function wallParts(zone, instant) {
    if (!formats.has(zone)) {
      formats.set(zone, new Intl.DateTimeFormat("en-US", {
        timeZone: zone, hourCycle: "h23", era: "short", year: "numeric", month: "numeric", day: "numeric",
        hour: "numeric", minute: "numeric", second: "numeric",
      }));
    }
    const parts = {};
    for (const { type, value } of formats.get(zone).formatToParts(instant * 60000)) parts[type] = Number(value);
    return Date.UTC(parts.year, parts.month - 1, parts.day, parts.hour, parts.minute, parts.second);
  }

  const wall = (instant, zone = state.zone) => instant + offset(zone, instant);

  function instantOf(wallTime) { // of the site of a clock change, the first pass
    const guess = wallTime - offset(state.zone, wallTime);
    return wallTime - offset(state.zone, guess);
  }

  const dayOf = (wallTime) => Math.floor(wallTime / DAY) * DAY;
  const weekOf = (wallTime) => wallTime - ((dayOf(wallTime) / DAY + 3) % 7) * DAY - (wallTime - dayOf(wallTime));
  const two = (number) => String(number).padStart(2, "0");
  const clock = (wallTime) => {
    const minutes = ((wallTime % DAY) + DAY) % DAY;
    return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
  };
  const dateOf = (wallTime) => new Date(wallTime * 60000);
  const iso = (wallTime) => dateOf(wallTime).toISOString().slice(0, 10);
  const dayText = (wallTime) => {
    const date = dateOf(wallTime);
    return `${DAYS[date.getUTCDay()]} ${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`;
  };
  const yearText = (wallTime) => `${dayText(wallTime)} ${dateOf(wallTime).getUTCFullYear()}`;
  const near = (wallTime, day) => { // with as much of the date as is needed to tell it from another day's
    if (wallTime === dayOf(day) + DAY) return "24:00";
    const far = Math.abs(dayOf(wallTime) - dayOf(day));
    const date = !far ? "" : far < WEEK ? `${dayText(wallTime).slice(0, 3)} ` : `${dayText(wallTime)} `;
    return date + clock(wallTime);
  };
  const spanText = (one, zone = state.zone) => {
    const first = wall(one.start, zone);
    return `${clock(first)} to ${near(wall(one.end, zone), first)}`;
  };
  const spanOn = (one, day) => { // as the day sees it
    const first = wall(one.start);
    return first < day ? `since ${near(first, day)}, to ${near(wall(one.end), day)}` : spanText(one);
  };

  // Windows

  class Window { // one occurrence; its id is made when it is asked for, as there may be thirty thousand
    constructor(of, number, start, shape) {
      [this.offset, this.length, this.name, this.marks, this.seats] = shape;
      this.of = of;
      this.number = number;
      this.start = start;
      this.end = start + this.length;
      this.open = start - this.seats.reduce((most, line) => Math.max(most, line[2]), 0);
    }

    get id() {
      const own = (this.of.ids || {})[this.number], local = this.start + this.offset;
      return `${this.of.name}/${own || `${iso(local)}T${clock(local)}${this.name ? `~${this.name}` : ""}`}`;
    }
  }

  const windows = [], standing = [], byName = new Map();
  for (const one of data.reservations) {
    byName.set(one.name, one);
    one.text = [one.title, one.name, one.owner, one.contact].join(" ").toLowerCase();
    one.dates = [];
    let start = 0;
    for (let i = 0; i < (one.windows || []).length; i += 2) {
      start += one.windows[i];
      const found = new Window(one, i / 2, start, one.shapes[one.windows[i + 1]]);
      one.dates.push(found);
      windows.push(found);
    }
    if (one.standing) standing.push({ of: one, seats: one.standing, marks: [], name: "", id: one.name });
  }
  windows.sort((a, b) => a.start - b.start); // equal ones stay in the order of their reservations
  const longest = windows.reduce((most, one) => Math.max(most, one.end - one.open), 0);

  function seatsShown(one) {
    return one.seats.filter(([number]) => {
      const found = data.classes[number];
      return (!state.cluster || data.clusters[found[1]] === state.cluster) && (!state.class || found[0] === state.class);
    });
  }

  function isShown(one) {
    const words = state.search.trim().toLowerCase();
    return (!words || one.of.text.includes(words)) && seatsShown(one).length > 0;
  }

  function between(first, last) { // windows that are open in [first, last)
    let low = 0, high = windows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (windows[middle].start < first - longest) low = middle + 1; else high = middle;
    }
    const found = [];
    for (let i = low; i < windows.length && windows[i].start < last; i++) {
      if (windows[i].end > first && isShown(windows[i])) found.push(windows[i]);
    }
    return found;
  }

  const seatsText = (one, seats = seatsShown(one)) => seats.map(([number, count]) => {
    const unit = one.of.units ? ` ${count === 1 ? one.of.unit : one.of.units} of` : "";
    return `${count}${unit} ${data.classes[number][0]}`;
  }).join(", ");
  const clustersText = (seats) => [...new Set(seats.map(([number]) => data.clusters[data.classes[number][1]]))].join(", ");
  const manyClusters = data.clusters.length > 1;
  const isOpen = (one) => one.open <= now && now < one.end;
  const title = (one) => one.of.title + (one.name ? ` (${one.name})` : "");
  const link = (one) => addressOf(one.id);
  const outcome = (one) => { // of a past or open date: when its seats were ready, or what was missing
    const [ready, seats] = data.outcomes[one.id] || [null, ""];
    return ready === null ? seats : `ready ${near(wall(ready), wall(one.start))}, ${seats}`;
  };

  // The address: the name of a reservation or the id of a date, and settings, parted by &

  function addressOf(name = "", changes = {}) {
    const wanted = { ...state, ...changes };
    const parts = Object.keys(usual).filter((key) => wanted[key] !== usual[key]).map((key) =>
      `${key}=${encodeURIComponent(wanted[key]).replaceAll("%2F", "/")}`);
    return `#${[name, ...parts].filter(Boolean).join("&")}`;
  }

  function decoded(text) {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  }

  function readAddress() { // into the state; and return the name, and the settings that do not exist here
    const unknown = [];
    let name = "";
    Object.assign(state, usual);
    for (const part of location.hash.slice(1).split("&").filter(Boolean)) {
      const [key, ...rest] = part.split("="), value = decoded(rest.join("="));
      if (!rest.length) name = decoded(part);
      else if (!(key in usual) || !isPossible(key, value)) unknown.push(decoded(part));
      else state[key] = value;
    }
    return { name, unknown };
  }

  function isPossible(key, value) {
    if (key === "date") return !Number.isNaN(Date.parse(`${value}T00:00Z`));
    if (key === "search" || value === usual[key]) return true;
    if (key === "keys") return value === "off";
    return [...at(CONTROLS[key]).options].some((option) => option.value === value);
  }

  // Colors, of which the text of a card tells the meaning too

  const owners = [...new Set(data.reservations.map((one) => one.owner || "").filter(Boolean))].sort();

  function hue(one) {
    const [first] = seatsShown(one);
    const number = state.color === "owner" ? owners.indexOf(one.of.owner || "") : first ? first[0] : -1;
    return number < 0 ? "" : ` hue${number % HUES}`;
  }

  function showLegend(found) {
    const named = new Map();
    for (const one of found) {
      const name = state.color === "owner" ? one.of.owner : data.classes[(seatsShown(one)[0] || [0])[0]][0];
      if (name) named.set(name, hue(one));
    }
    const legend = [...named].sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, HUES);
    at("Legend").hidden = legend.length < 2;
    at("Legend").replaceChildren(...legend.map(([name, color]) => make("span", { class: `swatch${color}` }, name)),
      named.size > legend.length ? `and ${named.size - legend.length} more` : "");
  }

  function tags(one) {
    const found = one.marks.filter((mark) => MARKS[mark]).map((mark) => make("span", { class: "tag" }, MARKS[mark]));
    if (one.start !== undefined && isOpen(one) && !one.of.suspended) found.push(make("span", { class: "tag now" }, "open now"));
    if (outcome(one)) found.push(make("span", { class: "tag" }, outcome(one)));
    return found.flatMap((tag) => [" ", tag]);
  }

  function card(one, day) {
    const seats = seatsShown(one);
    const classes = `card${hue(one)}${one.start !== undefined && isOpen(one) ? " open" : ""}${one.of.suspended ? " suspended" : ""}`;
    const where = manyClusters ? ` · ${clustersText(seats)}` : "";
    const lines = [make("b", {}, title(one))];
    if (one.start === undefined) {
      lines.push(make("small", {}, one.of.until ? `until ${yearText(wall(one.of.until))} ${clock(wall(one.of.until))}` : "without end"));
    } else {
      lines.unshift(make("span", {}, spanOn(one, day)));
      lines.push(make("small", {}, `opens ${near(wall(one.open), Math.max(wall(one.start), day))}`));
    }
    lines.splice(-1, 0, make("small", {}, seatsText(one, seats) + where));
    if (one.of.owner) lines.push(make("small", {}, one.of.owner));
    return make("li", {}, make("a", { class: classes, href: link(one) }, ...lines, ...tags(one)));
  }

  // The week and the day

  function period() {
    const first = state.view === "week" ? weekOf(state.day) : state.day, days = LENGTH[state.view];
    return { first, days, since: instantOf(first), until: instantOf(first + days * DAY) };
  }

  function show(unknown = []) {
    const shown = period(), found = between(shown.since, shown.until);
    const last = shown.first + (shown.days - 1) * DAY;
    const span = `${dayText(shown.first)} to ${yearText(last)}`;
    at("Period").textContent = { week: `Week ${weekNumber(shown.first)}: ${span}`, day: yearText(shown.first), list: span }[state.view];
    at("Date").value = iso(state.day);
    for (const [key, id] of Object.entries(CONTROLS)) if (at(id).value !== state[key]) at(id).value = state[key];
    at("Keys").checked = state.keys === "on";
    showCount(found, shown, unknown);
    showCharts(shown);
    showLegend([...found, ...standing.filter(isShown)]);
    const alwaysOpen = standing.filter((one) => isShown(one) && (!one.of.until || one.of.until > shown.since));
    at("Standing").hidden = !alwaysOpen.length;
    at("AlwaysOpen").replaceChildren(...alwaysOpen.map((one) => card(one, shown.first)));
    at("Days").replaceChildren({ week, day: dayTable, list }[state.view](shown, found));
  }

  function weekNumber(monday) {
    const thursday = dateOf(monday + 3 * DAY);
    return Math.floor((thursday - Date.UTC(thursday.getUTCFullYear(), 0, 1)) / (WEEK * 60000)) + 1;
  }

  function showCount(found, shown, unknown) {
    const when = { week: "this week", day: "on this day", list: "in these two weeks" }[state.view];
    const words = `${found.length ? counted(found.length, "window") : "No windows"} ${when}.`;
    const parts = unknown.map((part) => ` The address asks for ${part}, which is not here.`);
    if (!found.length) {
      const next = windows.find((one) => one.start >= shown.until && isShown(one));
      const before = next ? undefined : windows.findLast((one) => one.end <= shown.since && isShown(one));
      const other = next || before;
      if (other) {
        parts.push(next ? " The next is " : " The last was ");
        parts.push(make("a", { href: link(other) }, `${title(other)} on ${yearText(wall(other.start))}`), ".");
      } else if (!standing.some(isShown)) {
        parts.push(windows.length ? " Nothing matches at any date." : " There are no dates yet.");
      }
    }
    at("Count").replaceChildren(words, ...parts);
  }

  function daySections(shown, found) { // each with the number of its windows
    return Array.from({ length: shown.days }, (_, i) => {
      const day = shown.first + i * DAY, since = instantOf(day), until = instantOf(day + DAY);
      const here = found.filter((one) => one.start < until && one.end > since);
      const isToday = since <= now && now < until;
      const name = `D${day / DAY}`;
      const head = make("h3", { id: name }, make("a", { href: addressOf("", { view: "day", date: iso(day) }) }, dayText(day)), make("span", {}, isToday ? "today" : ""));
      const section = make("section", { class: `day${isToday ? " today" : ""}${here.length ? "" : " empty"}`, "aria-labelledby": name, "aria-current": isToday ? "date" : false }, head);
      if (!here.length) section.append(make("span", { class: "soft" }, "no windows"));
      const limit = state.all.has(day) ? here.length : SHOWN;
      if (here.length) section.append(make("ul", { class: "cards", role: "list" }, ...here.slice(0, limit).map((one) => card(one, day))));
      if (here.length > limit) section.append(make("button", { type: "button", class: "more", "data-more": day }, `Show ${here.length - limit} more`));
      return { section, isFree: !here.length && !isToday };
    });
  }

  function week(shown, found) { // a weekend on which nothing happens needs no room
    const days = daySections(shown, found);
    const free = ["sat", "sun"].filter((_, i) => days[5 + i].isFree).map((name) => ` free-${name}`).join("");
    return make("div", { class: `week${free}` }, ...days.map((day) => day.section));
  }

  function list(shown, found) { // days with windows, to scroll through
    return make("div", { class: "list" }, ...daySections(shown, found).filter((day) => !day.isFree).map((day) => day.section));
  }

  function dayTable(shown, found) {
    if (!found.length) return "";
    const limit = state.all.has(shown.first) ? found.length : 4 * SHOWN;
    const columns = ["Time", "Reservation", "Seats", ...(manyClusters ? ["Cluster"] : []), "Opens", "Owner", "Timeline"];
    const rows = found.slice(0, limit).map((one) => {
      const seats = seatsShown(one);
      return make("tr", { class: isOpen(one) ? "open" : false },
        make("td", {}, spanOn(one, shown.first)),
        make("th", { scope: "row" }, make("a", { href: link(one) }, title(one)), ...tags(one)),
        make("td", { class: "short" }, seatsText(one, seats)),
        ...(manyClusters ? [make("td", {}, clustersText(seats))] : []),
        make("td", { class: "short", "data-label": "opens " }, near(wall(one.open), Math.max(wall(one.start), shown.first))),
        make("td", {}, one.of.owner || ""),
        make("td", { class: "bar" }, bar(one, shown)));
    });
    const table = make("table", { class: "day-table" },
      make("thead", {}, make("tr", {}, ...columns.map((name) => make("th", { scope: "col" }, name)))), make("tbody", {}, ...rows));
    // On a phone its rows are blocks, for which some browsers forget that it is a table.
    for (const [tags, role] of [["table", "table"], ["tr", "row"], ["td", "cell"], ["thead th", "columnheader"], ["tbody th", "rowheader"]]) {
      for (const found of [table, ...table.querySelectorAll(tags)]) if (found.matches(tags)) found.setAttribute("role", role);
    }
    const framed = make("div", { class: "table" }, table);
    if (found.length > limit) framed.append(make("button", { type: "button", class: "more", "data-more": shown.first }, `Show ${found.length - limit} more`));
    return framed;
  }

  function bar(one, shown) {
    const x = (instant) => Math.min(1000, Math.max(0, 1000 * (instant - shown.since) / (shown.until - shown.since)));
    const rect = (kind, first, last) => draw("rect", { class: kind, x: x(first), y: kind === "lead" ? 8 : 4, width: Math.max(0, x(last) - x(first)), height: kind === "lead" ? 8 : 16, rx: 2 });
    const lines = [6, 12, 18].map((hour) => draw("line", { class: "grid", x1: hour * 1000 / 24, x2: hour * 1000 / 24, y1: 0, y2: 24 }));
    return draw("svg", { viewBox: "0 0 1000 24", preserveAspectRatio: "none", "aria-hidden": "true" }, ...lines,
      rect("lead", one.open, one.start), rect("window", one.start, one.end));
  }

  // The curves

  for (const one of data.curves) {
    const [name, cluster] = data.classes[one.class];
    Object.assign(one, { name, cluster: data.clusters[cluster] });
    one.at = [];
    one.level = [];
    for (let i = 0, minute = 0; i < one.steps.length; i += 2) {
      minute += one.steps[i];
      one.at.push(minute);
      one.level.push(one.steps[i + 1]);
    }
  }

  function levelsOf(one, since, until) { // [instant, level] from since on
    let low = 0, high = one.at.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (one.at[middle] <= since) low = middle + 1; else high = middle;
    }
    const found = [[since, low ? one.level[low - 1] : 0]];
    for (let i = low; i < one.at.length && one.at[i] < until; i++) found.push([one.at[i], one.level[i]]);
    return found;
  }

  const number = (value) => value.toLocaleString("en");

  function showCharts(shown) {
    const drawn = data.curves
      .filter((one) => (!state.cluster || one.cluster === state.cluster) && (!state.class || one.name === state.class))
      .map((one) => ({ one, levels: levelsOf(one, shown.since, shown.until) }))
      .map((found) => ({ ...found, most: Math.max(...found.levels.map(([, level]) => level)) }))
      .filter((found) => found.most > 0)
      .sort((a, b) => b.one.limits.length - a.one.limits.length || b.most - a.most);
    at("Curves").hidden = !drawn.length;
    at("Charts").replaceChildren(...drawn.slice(0, CHARTS).map((found) => chart(found, shown)));
    if (drawn.length > CHARTS) {
      at("Charts").append(make("p", { class: "soft" }, `${drawn.length - CHARTS} more: choose a cluster or a class.`));
    }
  }

  function chart({ one, levels, most }, shown) {
    const { since, until } = shown;
    const limits = one.limits.filter(([first, last]) => first < until && last > since);
    const top = 1.08 * Math.max(most, ...limits.map(([, , limit]) => (limit <= 4 * most ? limit : 0)));
    const x = (instant) => (1000 * (Math.min(until, Math.max(since, instant)) - since) / (until - since)).toFixed(1);
    const y = (level) => (100 - 100 * level / top).toFixed(1);
    const ends = [...levels.slice(1).map(([instant]) => instant), until];
    const path = `M0 ${y(0)}${levels.map(([, level], i) => `V${y(level)}H${x(ends[i])}`).join("")}`;
    const days = Array.from({ length: shown.days - 1 }, (_, i) => x(instantOf(shown.first + (i + 1) * DAY)));
    const [when] = levels.find(([, level]) => level === most);
    const least = Math.min(...limits.map(([, , limit]) => limit));
    const name = `${manyClusters ? `${one.cluster}: ` : ""}seats of ${one.name}`;
    const peak = `at most ${number(most)}, ${dayText(wall(when))} ${clock(wall(when))}`;
    const ceiling = limits.length ? `ceiling ${number(least)}` : "";
    const isOver = limits.some(([first, last, limit]) =>
      levels.some(([since, level], i) => level > limit && since < last && ends[i] > first));
    const picture = draw("svg", { viewBox: "0 0 1000 100", preserveAspectRatio: "none", role: "img", "aria-label": `${name}: ${peak}${ceiling && `; ${ceiling}`}` },
      ...days.map((place) => draw("line", { class: "grid", x1: place, x2: place, y1: 0, y2: 100 })),
      draw("path", { class: "area", d: `${path}V100H0Z` }), draw("path", { class: "stroke", d: path }),
      ...limits.map(([first, last, limit]) => draw("path", { class: "limit", d: `M${x(first)} ${y(limit)}H${x(last)}` })));
    if (since <= now && now < until) picture.append(draw("line", { class: "now-line", x1: x(now), x2: x(now), y1: 0, y2: 100 }));
    return make("figure", {}, make("figcaption", {}, make("b", {}, name), peak, ceiling && "; ",
      ceiling && make("span", { class: isOver ? "over" : false }, isOver ? `above the ${ceiling}` : ceiling)), picture);
  }

  // One reservation

  function dateRow(date, i, dates, chosen) { // with the year where it is another than in the row before
    const first = wall(date.start), before = i ? wall(dates[i - 1].start) : -Infinity;
    const isNewYear = !i || dateOf(first).getUTCFullYear() !== dateOf(before).getUTCFullYear();
    const marks = date.marks.map((mark) => MARKS[mark] || mark);
    const notes = [date.name, ...marks, outcome(date)].filter(Boolean).join(", ");
    return make("tr", { "aria-current": date === chosen },
      make("th", { scope: "row" }, make("a", { href: link(date) }, isNewYear ? yearText(first) : dayText(first))),
      make("td", {}, spanText(date)), make("td", {}, near(wall(date.open), first)),
      make("td", {}, seatsText(date, date.seats)), make("td", {}, notes));
  }

  const dateLink = (date) => make("a", { href: link(date) }, `${yearText(wall(date.start))}, ${spanText(date)}`);

  function heading(one, chosen) {
    if (!chosen) return one.title;
    return title(chosen);
  }

  function details(one, chosen) {
    const zoneOf = one.zone, seats = chosen ? chosen.seats : one.standing || (one.dates[0] ? one.dates[0].seats : []);
    const facts = [];
    const add = (name, ...values) => facts.push(make("dt", {}, name), make("dd", {}, ...values));
    if (chosen) {
      const zones = [...new Set([state.zone, zoneOf])];
      add("When", ...zones.flatMap((zone, i) => [i ? make("br") : "", `${yearText(wall(chosen.start, zone))}, ${spanText(chosen, zone)} (${zone})`]));
      add("Opens", `${yearText(wall(chosen.open))} ${clock(wall(chosen.open))}`);
      if (outcome(chosen)) add("Outcome", outcome(chosen));
      if (chosen.marks.length) add("Notes", chosen.marks.map((mark) => MARKS[mark] || mark).join(", "));
    } else if (one.standing) {
      add("When", one.until ? `always, until ${yearText(wall(one.until))} ${clock(wall(one.until))}` : "always");
    }
    if (one.suspended) add("State", "suspended: it never opens");
    add(chosen || one.standing ? "Seats" : "Seats of the first date", seatsText({ of: one }, seats));
    add("Cluster", clustersText(seats));
    if (one.owner) add("Owner", one.owner, one.contact ? " (" : "", one.contact ? contact(one.contact) : "", one.contact ? ")" : "");
    add("Reservation", make("a", { href: `#${one.name}` }, one.name));
    add("File", one.url ? make("a", { href: one.url, rel: "noreferrer" }, one.file) : one.file);
    add("Calendar", ...feed(`feeds/${one.name}.ics`));
    if (one.edit) add("Change", ...changes(one, chosen));
    if (data.ask && data.ask.field !== null && one.unit === "seat") add("Again", make("a", { href: askAlike(one, seats), rel: "noreferrer" }, "Ask for seats like these"));
    const close = make("button", { type: "button" }, "Close");
    close.addEventListener("click", () => at("Details").close());
    const body = [make("div", { class: "head" }, make("h2", { id: "DetailsTitle" }, heading(one, chosen)), close), make("dl", {}, ...facts)];
    if (one.dates.length) {
      body.push(make("div", { class: "table" }, make("table", {}, make("caption", {}, counted(one.dates.length, "date")),
        make("thead", {}, make("tr", {}, ...["Date", "Time", "Opens", "Seats", "Notes"].map((name) => make("th", { scope: "col" }, name)))),
        make("tbody", {}, ...one.dates.map((date, i) => dateRow(date, i, one.dates, chosen))))));
    }
    if (one.leftOut) {
      body.push(make("h3", {}, "Left out"), make("ul", {}, ...one.leftOut.map(([date, reason]) => make("li", {}, `${date.replace("T", " ")}: ${reason}`))));
    }
    return body;
  }

  function original(id) { // when a date is in the schedule, by its id: `course/2026-02-09T09:00~late`
    const [day, rest] = id.split("/")[1].split("T"), [start, name = ""] = rest.split("~");
    return { day, start, name, words: [day, start, name].filter(Boolean).join(" ") };
  }

  function keys(one, id, counts) { // that name a date in the file, as the commands write them
    const { day, start, name } = original(id);
    const left = (one.leftOut || []).map(([date]) => original(`${one.name}/${date}`));
    const same = [...one.dates.filter(counts).map((date) => original(date.id)), ...left].filter((other) => other.day === day);
    const startTime = same.length > 1 ? `, startTime: "${start}"` : "";
    return `date: ${day}${startTime}${same.filter((other) => other.start === start).length > 1 ? `, name: "${name}"` : ""}`;
  }

  function changes(one, chosen) { // its editor on the forge, and what to write there
    const to = (text) => make("a", { href: one.edit, rel: "noreferrer" }, text);
    if (!chosen || ["moved", "extra", "otherSeats"].some((mark) => chosen.marks.includes(mark))) return [to("Edit the file")];
    const which = keys(one, chosen.id, (date) => !date.marks.includes("extra")), { day } = original(chosen.id);
    const except = which.includes(",") ? `{${which}}` : day;
    return [to("Skip"), ": ", make("code", {}, `except: [${except}]`), make("br"),
      to("Move"), ": ", make("code", {}, `moved: [{${which}, to: {date: ${day}}}]`), make("br"),
      make("small", {}, "Both open the file in an editor. Add the line below recurrence, or its item to the list that is there. To move, change the date behind to.")];
  }

  function askAlike(one, seats) { // the form, with what is known already; the title must be another
    const [number, count] = seats[0] || [];
    const answers = { "resource-class": number === undefined ? "" : data.classes[number][0], seats: count, ...hours(one), "time-zone": one.zone, contact: one.contact };
    const filled = Object.entries(answers).filter(([, value]) => value);
    return [data.ask.url, ...filled.map(([field, value]) => `${encodeURIComponent(data.ask.field + field)}=${encodeURIComponent(value)}`)].join("&");
  }

  function hours(one) { // the weekdays and times of a course whose dates all have the same, and of which each weekday repeats
    const usual = one.dates.filter((date) => !date.marks.includes("extra") && !date.marks.includes("moved"));
    const places = usual.map((date) => date.start + date.offset), spans = new Set();
    usual.forEach((date, i) => spans.add(date.name || date.length >= DAY ? "" : `${clock(places[i])}-${clock(places[i] + date.length)}`));
    const days = places.map((place) => DAYS[dateOf(place).getUTCDay()].toLowerCase()), [span] = spans;
    const repeats = (day) => days.filter((other) => other === day).length > 1;
    if (spans.size !== 1 || !span || new Set(places).size < places.length || !days.every(repeats)) return {};
    return { "days-or-dates": WEEK_DAYS.filter((day) => days.includes(day)).join(","), times: span };
  }

  function feed(path) { // from a web server, programs can also subscribe by one click
    const found = [make("a", { href: path }, path.split("/").pop())];
    if (!location.protocol.startsWith("http")) return found;
    const { host, pathname } = new URL(path, location.href);
    return [...found, " (", make("a", { href: `webcal://${host}${pathname}` }, "subscribe"), ")"];
  }

  const contact = (text) => (/^[^@\s]+@[^@\s]+$/.test(text) ? make("a", { href: `mailto:${text}` }, text) : text);

  function follow(event) { // show what the address asks for
    const { name, unknown } = readAddress(), dialog = at("Details");
    const one = byName.get(name.split("/")[0]), chosen = one && one.dates.find((date) => date.id === name);
    state.day = state.date ? Date.parse(`${state.date}T00:00Z`) / 60000 : firstDay(chosen);
    const { first, days } = period(), day = chosen && dayOf(wall(chosen.start));
    if (chosen && (day < first || day >= first + days * DAY)) state.day = day;
    const missing = name && (!one || (!chosen && name.includes("/"))) ? [name] : [];
    show([...unknown, ...missing]);
    if (!one) {
      if (dialog.open) dialog.close();
      if (event && document.activeElement === document.body) at("Period").focus({ preventScroll: true });
      return;
    }
    dialog.replaceChildren(...details(one, chosen));
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
    dialog.dataset.shown = location.hash;
    document.title = `${one.title}: seats of ${data.site}`;
  }

  // Controls

  function fill(id, names) {
    at(id).append(...names.map((name) => make("option", { value: name }, name)));
    at(id).closest("label").hidden = names.length < 2;
  }

  function fillZones() {
    const own = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
    const zones = [...new Set([state.zone, own, "UTC"])];
    at("Zone").append(...zones.map((zone) => make("option", { value: zone },
      zone === own && zone !== data.zone ? `${zone} (yours)` : zone === data.zone ? `${zone} (site)` : zone)));
  }

  function firstDay(chosen) {
    if (chosen) return dayOf(wall(chosen.start));
    if (!windows.length) return dayOf(wall(now));
    const first = wall(windows[0].start), last = wall(windows[windows.length - 1].end - 1);
    return dayOf(Math.min(Math.max(wall(now), first), last));
  }

  function change(changes, isTyping = false) {
    Object.assign(state, changes);
    const address = addressOf() === "#" ? location.pathname + location.search : addressOf();
    if (isTyping) history.replaceState(null, "", address); else history.pushState(null, "", address);
    state.day = state.date ? Date.parse(`${state.date}T00:00Z`) / 60000 : firstDay();
    show();
  }

  const go = (day) => change({ date: day === firstDay() ? "" : iso(day) });
  const step = (direction) => go(state.day + direction * LENGTH[state.view] * DAY);

  fill("Cluster", data.clusters);
  fill("Class", data.classes.map(([name]) => name));
  fillZones();
  at("Color").closest("label").hidden = data.classes.length < 2 && owners.length < 2;
  for (const id of ["Filter", "Curves", "Standing"]) at(id).open = !narrow;
  at("Summary").append(`${counted(data.reservations.length, "reservation")}, ${counted(windows.length, "date")}, as a calendar: `, ...feed("berth.ics"));
  if (data.recorded) at("Summary").append(`. Records of ${yearText(wall(data.recorded))} ${clock(wall(data.recorded))}`);
  if (data.ask) at("Summary").append(". ", make("a", { href: data.ask.url, rel: "noreferrer" }, "Ask for seats"));

  for (const [key, id] of Object.entries(CONTROLS)) {
    if (key !== "search") at(id).addEventListener("change", () => change({ [key]: at(id).value }));
  }
  let waiting = 0;
  at("Search").addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => change({ search: at("Search").value }, true), 120);
  });
  at("Controls").addEventListener("submit", (event) => event.preventDefault());
  at("Before").addEventListener("click", () => step(-1));
  at("After").addEventListener("click", () => step(1));
  at("Today").addEventListener("click", () => go(dayOf(wall(now))));
  at("Date").addEventListener("change", () => {
    const found = Date.parse(`${at("Date").value}T00:00Z`);
    if (!Number.isNaN(found)) go(found / 60000);
  });
  at("Days").addEventListener("click", (event) => {
    const more = event.target.closest("[data-more]");
    if (!more) return;
    state.all.add(Number(more.dataset.more));
    show();
  });
  at("Details").addEventListener("close", () => {
    const { open, dataset } = at("Details");
    if (open || dataset.shown !== location.hash) return; // the next window is already shown, or about to be
    document.title = `Seats of ${data.site}`;
    history.replaceState(null, "", addressOf() === "#" ? location.pathname + location.search : addressOf());
  });
  for (const dialog of [at("Details"), at("Help")]) {
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  }

  // Keys

  const views = { l: "list", w: "week", d: "day" };
  const KEYS = {
    ArrowLeft: () => step(-1), ArrowRight: () => step(1), t: () => go(dayOf(wall(now))),
    "/": () => { at("Filter").open = true; at("Search").focus(); }, "?": () => at("Help").showModal(),
    ...Object.fromEntries(Object.entries(views).map(([key, view]) => [key, () => change({ view })])),
  };
  at("ShowHelp").addEventListener("click", () => at("Help").showModal());
  at("CloseHelp").addEventListener("click", () => at("Help").close());
  at("Keys").addEventListener("change", () => change({ keys: at("Keys").checked ? "on" : "off" }, true));
  addEventListener("keydown", (event) => {
    const isTaken = event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, dialog, .table, summary");
    if (isTaken || document.querySelector("dialog[open]") || state.keys === "off" || !Object.hasOwn(KEYS, event.key)) return;
    event.preventDefault();
    KEYS[event.key]();
  });
  addEventListener("hashchange", follow);
  follow();
})();
