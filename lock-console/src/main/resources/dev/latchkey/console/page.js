'use strict';
// What is foreign, such as the names of resources, is put into the page as text only: textContent, never innerHTML.
const ROW = 38, WINDOW = 600000, MOST_SPANS = 50000;
const $ = id => document.getElementById(id);
const locks = new Map();      // by name: what is held
const history = new Map();    // by name: {holds: [span], waits: [span]}, a span is {from, to, who|count}; to is null while it lasts
const gaps = [];              // {from, to}: when nobody told us
let rows = [], chosen = null, chosenAt = 0, allowBreak = false, offset = 0, state = 'connecting', events = null, complete = true;
let spans = 0, colours = {}, asksEvery = 0;

const now = () => performance.now() + offset;
// What a terminal would obey, and what hides or turns text, is shown as what it is.
const visible = text => text.replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, c => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
const length = ms => {
  const s = Math.max(0, Math.floor(ms / 1000)), m = Math.floor(s / 60), h = Math.floor(m / 60), d = Math.floor(h / 24);
  if (s < 60) return s + ' s';
  if (m < 60) return m + 'm ' + String(s % 60).padStart(2, '0') + 's';
  return h < 24 ? h + 'h ' + String(m % 60).padStart(2, '0') + 'm' : d + 'd ' + (h % 24) + 'h';
};

// --- what the server tells ---

function put(entry, at) {
  const old = locks.get(entry.name), waits = entry.waits || [];
  const lock = { name: entry.name, holds: entry.holds, waits, queued: entry.waits !== null, owner: owners(entry.holds) };
  lock.since = Math.min(...entry.holds.map(hold => hold.since ?? Infinity));
  lock.ends = Math.max(...entry.holds.map(hold => hold.ends ?? -Infinity));
  lock.who = entry.holds.map(hold => hold.token || hold.owner || hold.mode).join();
  lock.longest = waits.length ? Math.min(...waits.map(wait => wait.since ?? Infinity)) : Infinity;
  if (!isFinite(lock.since)) lock.since = old && old.who === lock.who ? old.since : at;
  lock.whole = isFinite(lock.ends) ? Math.max(lock.ends - at, old && old.who === lock.who ? old.whole || 0 : 0) : 0;
  locks.set(entry.name, lock);
  record(old, lock, at);
}

const owners = holds => holds.length > 1 ? (holds[0].owner || 'shared') + ' and ' + (holds.length - 1) + ' more' : holds[0].owner || '–';

function record(old, lock, at) {
  let past = history.get(lock.name);
  if (!past) history.set(lock.name, past = { holds: [], waits: [] });
  if (!old || old.who !== lock.who) {
    end(past.holds, Math.max(lock.since, at - 5000 > lock.since ? at : lock.since));
    past.holds.push({ from: lock.since, to: null, who: past.holds.length ? 1 - past.holds[past.holds.length - 1].who : 0 });
    spans++;
  }
  const count = lock.waits.length, last = past.waits[past.waits.length - 1];
  if (!last || last.to !== null ? count > 0 : last.count !== count) {
    const first = !last || last.to !== null;
    end(past.waits, at);
    if (count > 0) { past.waits.push({ from: first && isFinite(lock.longest) ? lock.longest : at, to: null, count }); spans++; }
  }
}

function end(list, at) {
  const last = list[list.length - 1];
  if (last && last.to === null) last.to = Math.max(at, last.from);
}

function take(name, at) {
  locks.delete(name);
  const past = history.get(name);
  if (past) { end(past.holds, at); end(past.waits, at); }
}

function forget() {
  const oldest = now() - WINDOW;
  for (const [name, past] of history) {
    for (const list of [past.holds, past.waits])
      while (list.length && list[0].to !== null && (list[0].to < oldest || spans > MOST_SPANS)) { list.shift(); spans--; }
    if (!past.holds.length && !past.waits.length && !locks.has(name)) history.delete(name);
  }
  while (gaps.length && gaps[0].to !== null && gaps[0].to < oldest) gaps.shift();
}

const told = {
  hello: hello => {
    allowBreak = hello.allowBreak;
    $('store').textContent = visible(hello.store + (hello.prefix ? ' · ' + hello.prefix + '…' : ''));
  },
  all: all => {
    offset = all.now - performance.now();
    const there = new Set(all.locks.map(entry => entry.name));
    for (const name of [...locks.keys()]) if (!there.has(name)) take(name, all.now);
    for (const entry of all.locks) put(entry, all.now);
    complete = all.complete;
    all.trouble ? say('trouble', all.trouble) : say('live');
    arrange();
  },
  change: change => {
    offset = change.now - performance.now();
    for (const name of change.gone) take(name, change.now);
    for (const entry of change.set) put(entry, change.now);
    complete = change.complete;
    say('live');
    if (change.gone.length || change.set.length) arrange(); else figures();
  },
  trouble: trouble => say('trouble', trouble.message),
  slow: () => { if (state !== 'trouble') say('slow'); },
  same: () => figures(),
};

function connect() {
  events = new EventSource('api/events');
  for (const [name, does] of Object.entries(told)) events.addEventListener(name, event => does(JSON.parse(event.data)));
  events.onerror = () => {
    say('gone');
    if (events.readyState === EventSource.CLOSED) setTimeout(open, 2000);
  };
}

// Where the server sends no events: it tells what has changed since it was last asked.
async function ask(version) {
  try {
    const response = await fetch('api/changes?since=' + encodeURIComponent(version), { cache: 'no-store' });
    if (!response.ok) throw new Error(response.status);
    const next = await response.json();
    told[next.event](next);
    setTimeout(ask, asksEvery, next.version);
  } catch (e) {
    say('gone');
    setTimeout(open, 2000);
  }
}

function say(next, message) {
  if (next !== 'live' && (state === 'live' || state === 'connecting')) gaps.push({ from: now(), to: null });
  if (next === 'live') end(gaps, now());
  state = next;
  const words = { live: 'live', slow: 'store is slow', trouble: 'store fails', gone: 'server gone', connecting: 'connecting' };
  $('state').dataset.state = next;
  if ($('state').textContent !== words[next]) $('state').textContent = words[next];
  const text = { slow: 'The store has not answered for some seconds. What is shown is how it was before.',
    trouble: 'The store does not answer: ' + visible(message || '') + '. What is shown is how it was before; it is tried again.',
    gone: 'The server does not answer. What is shown is how it was before; it is tried again.' }[next] || '';
  if ($('banner').textContent !== text) $('banner').textContent = text;
  $('banner').hidden = !text;
  // Slow tells nothing of what is shown: what was grey stays so until something newer comes.
  if (next !== 'slow') $('scroll').classList.toggle('stale', next === 'gone' || next === 'trouble');
}

// --- the list: only the rows that are seen are in the document ---

const orders = {
  waits: (a, b) => b.waits.length - a.waits.length || a.since - b.since,
  since: (a, b) => a.since - b.since,
  ends: (a, b) => (a.ends === -Infinity ? Infinity : a.ends) - (b.ends === -Infinity ? Infinity : b.ends),
  name: () => 0,
};

function arrange() {
  const prefix = $('filter').value;
  rows = [];
  for (const lock of locks.values()) if (lock.name.startsWith(prefix)) rows.push(lock);
  const held = rows.length;
  if ($('past').checked)
    for (const name of history.keys()) if (!locks.has(name) && name.startsWith(prefix)) rows.push({ name, holds: [], waits: [], queued: true, owner: 'released', since: Infinity, ends: -Infinity, past: true });
  const order = orders[$('order').value];
  rows.sort((a, b) => !!a.past - !!b.past || order(a, b) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  const at = rows.findIndex(row => row.name === chosen);
  if (at >= 0) chosenAt = at;
  $('count').textContent = (prefix ? held.toLocaleString('en') + ' of ' + locks.size.toLocaleString('en') : '') + (complete ? '' : '; more are held than are shown: choose a prefix for this page');
  $('space').style.height = rows.length * ROW + 'px';
  $('scroll').setAttribute('aria-rowcount', rows.length);
  $('empty').hidden = rows.length > 0;
  $('empty').textContent = state === 'connecting' ? '' : prefix ? 'Nothing is held whose name begins with ' + visible(prefix) : 'Nothing is held.';
  figures();
  draw();
}

function figures() {
  let waiting = 0, longest = Infinity;
  for (const lock of locks.values()) { waiting += lock.waits.length; longest = Math.min(longest, lock.longest); }
  $('held').textContent = locks.size.toLocaleString('en');
  $('waiting').textContent = waiting.toLocaleString('en');
  $('waiting').classList.toggle('some', waiting > 0);
  $('longest').textContent = isFinite(longest) ? length(now() - longest) : '–';
}

const pool = [];

function node(index) {
  if (pool[index]) return pool[index];
  const make = (tag, name) => { const made = document.createElement(tag); made.className = name; return made; };
  const row = make('div', 'row');
  row.setAttribute('role', 'row');
  const cells = { row, name: make('span', 'name'), owner: make('span', 'owner'), time: make('span', 'for'), lease: make('span', 'lease'), queue: make('span', 'queue'), lane: make('canvas', 'lane') };
  cells.bar = make('i', ''); cells.left = make('b', ''); cells.number = make('b', ''); cells.wait = make('small', '');
  const bar = make('span', 'bar');
  bar.append(cells.bar); cells.lease.append(bar, cells.left); cells.queue.append(cells.number, cells.wait);
  for (const cell of [cells.name, cells.owner, cells.time, cells.lease, cells.queue, cells.lane]) { cell.setAttribute('role', 'gridcell'); row.append(cell); }
  row.addEventListener('click', () => { choose(cells.at); show(); });
  $('space').append(row);
  return pool[index] = cells;
}

function draw() {
  const scroll = $('scroll'), first = Math.max(0, Math.floor(scroll.scrollTop / ROW) - 3);
  const many = Math.min(rows.length - first, Math.ceil(scroll.clientHeight / ROW) + 6);
  for (let i = 0; i < many; i++) fill(node(i), first + i);
  for (let i = Math.max(0, many); i < pool.length; i++) pool[i].row.hidden = true, pool[i].row.style.display = 'none';
  refreshDetail();
}

const set = (at, text) => { if (at.textContent !== text) at.textContent = text; };

function fill(cells, at) {
  const lock = rows[at], time = now();
  cells.at = at;
  cells.row.hidden = false;
  cells.row.style.display = '';
  cells.row.style.top = at * ROW + 'px';
  cells.row.id = 'row-' + at;
  cells.row.setAttribute('aria-rowindex', at + 1);
  cells.row.setAttribute('aria-selected', lock.name === chosen);
  cells.row.classList.toggle('past', !!lock.past);
  cells.name.classList.toggle('none', lock.name === '');
  set(cells.name, lock.name === '' ? '(empty name)' : visible(lock.name));
  cells.name.title = visible(lock.name);
  set(cells.owner, visible(lock.owner));
  cells.owner.title = visible(lock.owner);
  set(cells.time, lock.past ? '' : length(time - lock.since));
  lease(cells.lease, cells.bar, cells.left, lock, time);
  cells.queue.classList.toggle('zero', !lock.waits.length);
  set(cells.number, lock.queued ? String(lock.waits.length) : '?');
  set(cells.wait, isFinite(lock.longest ?? Infinity) ? 'for ' + length(time - lock.longest) : '');
  if (lock.name === chosen) $('scroll').setAttribute('aria-activedescendant', cells.row.id);
  lane(cells.lane, lock.name, time);
}

function lease(cell, bar, left, lock, time) {
  const has = isFinite(lock.ends), rest = has ? Math.max(0, lock.ends - time) : 0, part = has && lock.whole ? Math.min(1, rest / lock.whole) : 0;
  cell.classList.toggle('low', has && part < .5);
  cell.classList.toggle('out', has && part < .2);
  bar.style.transform = 'scaleX(' + part.toFixed(3) + ')';
  bar.parentNode.style.visibility = has ? '' : 'hidden';
  set(left, lock.past ? '' : has ? length(rest) : 'no lease');
}

// --- ten minutes: holds as bars, two shades for one holder after the other; waits as a band behind them ---

function lane(canvas, name, time) {
  const scale = devicePixelRatio || 1, width = canvas.clientWidth, height = 26;
  if (!width) return;
  if (canvas.width !== Math.round(width * scale)) { canvas.width = Math.round(width * scale); canvas.height = height * scale; }
  const pen = canvas.getContext('2d');
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, width, height);
  const x = at => Math.max(0, Math.min(width, width * (1 - (time - at) / WINDOW)));
  pen.fillStyle = colours.line;
  for (let minute = 0; minute <= 10; minute += 2) pen.fillRect(Math.min(width - 1, x(time - minute * 60000)), 0, 1, height);
  pen.fillStyle = colours.hatch;
  for (const gap of gaps) pen.fillRect(x(gap.from), 12, Math.max(1, x(gap.to ?? time) - x(gap.from)), 2);
  const past = history.get(name);
  if (!past) return;
  for (const wait of past.waits) {
    pen.fillStyle = colours.waitSoft;
    const high = Math.min(24, 12 + wait.count * 3), from = x(wait.from), to = x(wait.to ?? time);
    pen.fillRect(from, (height - high) / 2, Math.max(1.5, to - from), high);
    pen.fillStyle = colours.wait;
    pen.fillRect(from, (height + high) / 2 - 1.5, Math.max(1.5, to - from), 1.5);
  }
  for (const hold of past.holds) {
    const from = x(hold.from), to = x(hold.to ?? time);
    if (to <= 0) continue;
    pen.fillStyle = hold.who ? colours.other : colours.hold;
    pen.beginPath();
    pen.roundRect(from, 9, Math.max(2, to - from - (hold.to === null ? 0 : 1)), 8, hold.from < time - WINDOW ? [0, 2, 2, 0] : 2);
    pen.fill();
  }
}

function paint() {
  const style = getComputedStyle(document.documentElement), of = name => style.getPropertyValue(name).trim();
  colours = { line: of('--line'), hatch: of('--hatch'), wait: of('--wait'), waitSoft: of('--wait-soft'), hold: of('--hold'), other: of('--hold-other') };
  draw();
}

// --- one resource ---

function choose(at) {
  if (!rows.length) return;
  chosenAt = Math.max(0, Math.min(rows.length - 1, at));
  if (rows[chosenAt].name !== chosen) forgetBreak();
  chosen = rows[chosenAt].name;
  const scroll = $('scroll'), top = chosenAt * ROW;
  if (top < scroll.scrollTop) scroll.scrollTop = top;
  else if (top + ROW > scroll.scrollTop + scroll.clientHeight) scroll.scrollTop = top + ROW - scroll.clientHeight;
  draw();
}

function forgetBreak() {
  $('break-input').value = '';
  $('break-answer').textContent = '';
}

function show() {
  if (chosen === null) return;
  $('detail').hidden = false;
  forgetBreak();
  shown = '';
  draw();
}

function hide() {
  $('detail').hidden = true;
  $('scroll').focus();
  draw();
}

let shown = '';

function refreshDetail() {
  if ($('detail').hidden) return;
  const lock = locks.get(chosen), time = now();
  const key = JSON.stringify([chosen, lock && lock.holds, lock && lock.waits, allowBreak]);
  if (key !== shown) build(lock), shown = key;
  $('detail').querySelectorAll('[data-since]').forEach(at => set(at, length(time - Number(at.dataset.since))));
  $('detail').querySelectorAll('.lease').forEach(at => lease(at, at.querySelector('i'), at.querySelector('b'), { ends: Number(at.dataset.ends), whole: lock ? lock.whole : 0 }, time));
}

function build(lock) {
  const make = (tag, name, text) => { const made = document.createElement(tag); if (name) made.className = name; if (text !== undefined) made.textContent = text; return made; };
  $('detail-name').textContent = chosen === '' ? '(empty name)' : visible(chosen);
  $('detail-holds').replaceChildren(...(lock ? lock.holds : []).map(hold => {
    const item = make('li'), facts = make('small', '', hold.mode + (hold.token ? ' · fencing token ' + hold.token : ''));
    item.append(make('span', 'who', visible(hold.owner || 'unknown')), facts);
    if (hold.since !== null) { facts.append(' · for '); const t = make('span'); t.dataset.since = hold.since; facts.append(t); }
    if (hold.ends !== null) {
      const l = make('span', 'lease'), bar = make('span', 'bar');
      l.dataset.ends = hold.ends; bar.append(make('i')); l.append(bar, make('b')); item.append(l);
    }
    return item;
  }));
  if (!lock) $('detail-holds').append(make('li', '', 'Nobody holds it now.'));
  const token = lock ? (lock.holds.find(hold => hold.token) || {}).token : null;
  $('break').hidden = !(allowBreak && token);
  if ($('break-token').textContent !== (token || '')) { $('break-token').textContent = token || ''; $('break-input').value = ''; }
  $('break-do').disabled = $('break-input').value.trim() !== token;
  const waits = lock ? lock.waits : [];
  $('detail-line').textContent = lock && !lock.queued ? 'This store cannot tell who waits' : waits.length ? 'Waiting, the next one first' : 'Nobody waits';
  $('detail-waits').replaceChildren(...waits.slice(0, 200).map(wait => {
    const item = make('li'), t = make('time');
    if (wait.since !== null) t.dataset.since = wait.since;
    item.append(make('span', 'who', visible(wait.owner || 'unknown') + (wait.mode === 'shared' ? ', to share' : '')), t);
    return item;
  }));
}

$('break-input').addEventListener('input', () => { $('break-do').disabled = $('break-input').value.trim() !== $('break-token').textContent; });
$('break').addEventListener('submit', async event => {
  event.preventDefault();
  $('break-do').disabled = true;
  const resource = chosen;
  let answer;
  try {
    const response = await post('api/break', { resource, token: $('break-input').value.trim() }), said = await response.json();
    answer = !response.ok ? said.error : said.ended ? 'The hold is ended.' : 'This hold did not exist any more.';
  } catch (e) {
    answer = 'The server did not answer: the hold may have ended or not.';
  }
  if (chosen !== resource) return;
  $('break-answer').textContent = answer;
  $('break-input').value = '';
});

const post = (path, form) => fetch(path, { method: 'POST', headers: { 'X-Latchkey': 'page', 'Content-Type': asksEvery ? 'application/json' : 'application/x-www-form-urlencoded' },
  body: asksEvery ? JSON.stringify(form) : new URLSearchParams(form) });

// --- keys ---

addEventListener('keydown', event => {
  const typing = event.target.matches('input:not([type="checkbox"]), select'), key = event.key;
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
  if (key === 'Escape') {
    if (event.target === $('filter') && $('filter').value) { $('filter').value = ''; arrange(); } else if (!$('detail').hidden) hide(); else $('scroll').focus();
    event.preventDefault();
    return;
  }
  if (typing && !(event.target === $('filter') && (key === 'ArrowDown' || key === 'Enter'))) return;
  if (event.target.matches('button') && (key === 'Enter' || key === ' ')) return;
  const page = Math.max(1, Math.floor($('scroll').clientHeight / ROW) - 1), from = chosen === null ? -1 : chosenAt;
  const does = {
    '/': () => { $('filter').focus(); $('filter').select(); }, '?': () => $('help').showModal(),
    ArrowDown: () => { $('scroll').focus(); choose(from + 1); }, j: () => choose(from + 1), ArrowUp: () => choose(from - 1), k: () => choose(from - 1),
    PageDown: () => choose(from + page), PageUp: () => choose(from - page), Home: () => choose(0), End: () => choose(rows.length - 1),
    Enter: () => { if (chosen === null) choose(0); $('scroll').focus(); show(); },
    r: () => { $('past').checked = !$('past').checked; arrange(); },
    b: () => { if (chosen !== null) { show(); if (!$('break').hidden) $('break-input').focus(); } },
  }[key];
  if (does) { event.preventDefault(); does(); }
});

$('filter').addEventListener('input', () => { $('scroll').scrollTop = 0; arrange(); });
$('order').addEventListener('change', arrange);
$('past').addEventListener('change', arrange);
$('detail-close').addEventListener('click', hide);
$('help-open').addEventListener('click', () => $('help').showModal());
$('scroll').addEventListener('scroll', () => requestAnimationFrame(draw), { passive: true });
new ResizeObserver(() => draw()).observe($('scroll'));
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', paint);

// --- begin ---

async function open() {
  try {
    const session = await (await fetch('api/session', { cache: 'no-store' })).json();
    if (!session.open) { if (!$('login').open) $('login').showModal(); return; }
    if ($('login').open) $('login').close();
    asksEvery = session.asksEvery || 0;
    if (asksEvery) { told.hello(session); ask(''); } else connect();
  } catch (e) {
    say('gone');
    setTimeout(open, 2000);
  }
}

$('login').addEventListener('cancel', event => event.preventDefault());
$('login-form').addEventListener('submit', async event => {
  event.preventDefault();
  const response = await post('api/session', { secret: $('login-secret').value });
  $('login-secret').value = '';
  $('login-answer').textContent = response.ok ? '' : (await response.json()).error;
  if (response.ok) open();
});

setInterval(() => { if (!$('scroll').classList.contains('stale')) { draw(); figures(); } }, 250);
setInterval(() => { forget(); if ($('past').checked) arrange(); }, 10000);
paint();
open();
