// Comfort only: every page works without this file. Copy buttons, menus that close, "select all".

/** Tells people who listen instead of look. */
function say(text) {
  let area = document.getElementById('said');
  if (!area) {
    area = document.createElement('div');
    area.id = 'said';
    area.className = 'visually-hidden';
    area.setAttribute('role', 'status');
    document.body.append(area);
  }
  area.textContent = text;
}

function dressCopies(root) {
  for (const button of root.querySelectorAll('[data-copy]')) {
    button.hidden = false;
    button.addEventListener('click', () => void copy(button));
  }
}
dressCopies(document);
// A part of the page that has come anew (follow.js).
document.addEventListener('aos:renewed', (event) => dressCopies(event.detail));

async function copy(button) {
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.classList.add('is-done');
    setTimeout(() => button.classList.remove('is-done'), 1500);
    say('Copied.');
  } catch {
    // Without https the clipboard is closed: the text is selected instead, ready for the keyboard.
    getSelection().selectAllChildren(button.previousElementSibling);
    say('Selected. Press Ctrl+C to copy.');
  }
}

// A link to a field opens what it stands in, and the field is ready for what one came to write.
const named = document.getElementById(location.hash.slice(1));
if (named) {
  for (let one = named.closest('details'); one; one = one.parentElement.closest('details')) one.open = true;
  const field = named.matches('details') ? named.querySelector('input:not([type=hidden]), select, textarea') : named;
  if (field?.matches('input, select, textarea')) field.focus();
}

// A refused form: what is wrong is seen, and ready to be mended.
const fault = document.querySelector('.invalid-feedback');
if (fault) {
  for (let one = fault.closest('details'); one; one = one.parentElement.closest('details')) one.open = true;
  const group = fault.closest('.field, fieldset, form');
  (group?.querySelector('[aria-invalid="true"]') ?? group?.querySelector('input:not([type=hidden])'))?.focus();
}

// A menu that would reach beside the window is moved into it.
const BESIDE = 8;
function fit(menu) {
  menu.style.translate = 'none';
  const { left, right } = menu.getBoundingClientRect();
  const over = right - (document.documentElement.clientWidth - BESIDE);
  const by = left < BESIDE ? BESIDE - left : over > 0 ? -Math.min(over, left - BESIDE) : 0;
  if (by !== 0) menu.style.translate = `${by}px`;
}
document.addEventListener(
  'toggle',
  ({ target }) => {
    if (target.open && target.matches?.('details.dropdown')) fit(target.querySelector('.dropdown-menu'));
  },
  true,
);

const menus = () => document.querySelectorAll('details[data-menu][open], details.drawer[open]');
document.addEventListener('click', (event) => {
  for (const menu of menus()) if (!menu.contains(event.target)) menu.open = false;
});
// A confirmation's Cancel leads to the page itself; with scripts it only closes what it stands in.
document.addEventListener('click', (event) => {
  const menu = event.target.closest?.('[data-menu-close]')?.closest('details[data-menu]');
  if (!menu) return;
  event.preventDefault();
  menu.open = false;
  menu.querySelector('summary').focus();
});
document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return;
  for (const menu of menus()) {
    const inside = menu.contains(document.activeElement);
    menu.open = false;
    if (inside) menu.querySelector('summary').focus();
  }
});

for (const all of document.querySelectorAll('input[data-select-all]')) {
  const boxes = () => [...document.querySelectorAll(`input[name="${all.dataset.selectAll}"]`)];
  all.addEventListener('change', () => {
    for (const box of boxes()) box.checked = all.checked;
  });
  document.addEventListener('change', () => {
    const set = boxes().filter((box) => box.checked).length;
    all.checked = set > 0 && set === boxes().length;
    all.indeterminate = set > 0 && !all.checked;
  });
}

// The bar under a list says how many rows are ticked, and chooses "selected" when one is.
for (const form of document.querySelectorAll('form[data-bulk]')) {
  const count = form.querySelector('[data-bulk-count]');
  const idle = count.textContent;
  const tell = (event) => {
    const n = form.querySelectorAll('input[name="ids"]:checked').length;
    const everything = form.elements.scope.value === 'filter';
    if (n > 0 && event?.target.name === 'ids') form.elements.scope.value = 'ids';
    count.textContent = everything && n === 0 ? 'All matching issues selected' : n === 0 ? idle : `${n} selected`;
    form.classList.toggle('has-selection', n > 0 || everything);
  };
  form.addEventListener('change', tell);
  tell();
}

for (const button of document.querySelectorAll('[data-copy-text]')) {
  const source = document.querySelector(button.dataset.copyText)?.querySelector('pre');
  if (!source) continue;
  button.hidden = false;
  button.addEventListener('click', () => void copyText(button, source.textContent));
}

// A link to a text: with scripts it copies what it leads to.
for (const link of document.querySelectorAll('a[data-copy-from]')) {
  link.addEventListener('click', (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || !navigator.clipboard) return;
    event.preventDefault();
    void copyFrom(link);
  });
}

async function copyFrom(link) {
  const answer = await fetch(link.href, { credentials: 'same-origin' }).catch(() => null);
  if (answer?.ok) await copyText(link, await answer.text());
  else location.assign(link.href);
}

async function copyText(button, text) {
  try {
    await navigator.clipboard.writeText(text);
    button.classList.add('is-done');
    setTimeout(() => button.classList.remove('is-done'), 1500);
    say('Copied.');
  } catch {
    say('Copying is blocked. Select the raw text instead.');
  }
}

/** Now as the clock of a zone shows it, for a field of day and time; without a zone the day in UTC. */
function nowIn(zone) {
  const now = new Date();
  if (!zone) return now.toISOString().slice(0, 10);
  return now.toLocaleString('sv-SE', { timeZone: zone }).replace(' ', 'T').slice(0, 16);
}
/** A day so many months later, in its own month: a month after 31 January is the last of February. */
function laterBy(day, months) {
  const [year, month, date] = day.split('-').map(Number);
  const last = new Date(Date.UTC(year, month + months, 0)).getUTCDate();
  return new Date(Date.UTC(year, month - 1 + months, Math.min(date, last))).toISOString().slice(0, 10);
}
/** A day, or a day and a time, that much later by the clock on the wall. */
function later(value, months, hours) {
  const [day, time] = value.split('T');
  if (months > 0) return [laterBy(day, months), ...(time ? [time] : [])].join('T');
  return new Date(Date.parse(`${value}Z`) + hours * 3_600_000).toISOString().slice(0, 16);
}
for (const steps of document.querySelectorAll('[data-date-steps]')) {
  const field = document.getElementById(steps.dataset.dateSteps);
  if (field?.type !== 'date' && field?.type !== 'datetime-local') continue;
  steps.hidden = false;
  steps.addEventListener('click', ({ target }) => {
    const step = target.closest('[data-months], [data-hours]')?.dataset;
    if (!step) return;
    field.value = later(field.value || nowIn(steps.dataset.zone), Number(step.months ?? 0), Number(step.hours ?? 0));
    field.dispatchEvent(new Event('change', { bubbles: true }));
    say(field.value);
  });
}

// What the browser knows of its place.
for (const button of document.querySelectorAll('[data-browser-zone]')) {
  const field = document.getElementById(button.dataset.browserZone);
  button.hidden = false;
  button.addEventListener('click', () => {
    field.value = new Intl.DateTimeFormat().resolvedOptions().timeZone;
    say(field.value);
  });
}

// A form that was kept over the login is sent by itself (pages/resume.ts); without scripts its button does.
for (const form of document.querySelectorAll('form[data-send]')) form.requestSubmit();

// What was opened lately (search.js) is for whoever is signed in.
if (!document.querySelector('form[data-search]')) {
  try {
    localStorage.removeItem('aos.recent');
  } catch {
    // Storage is closed to the page.
  }
}

// Something of this page has changed: so may have what the navigation counts.
const short = new Intl.NumberFormat('en-GB', { notation: 'compact', maximumFractionDigits: 1 });
async function countAgain() {
  const answer = await fetch(`/navigation?${new URLSearchParams({ at: location.pathname })}`, {
    headers: { accept: 'application/json' },
    credentials: 'same-origin',
    redirect: 'error',
  }).catch(() => null);
  if (!answer?.ok) return;
  const counts = await answer.json();
  for (const badge of document.querySelectorAll('[data-badge]')) {
    const count = counts[badge.dataset.badge || 'badges'][badge.closest('a').getAttribute('href')] ?? null;
    badge.hidden = !count;
    const text = count ? short.format(count) : '';
    if (badge.firstElementChild.textContent !== text) badge.firstElementChild.textContent = text;
  }
}
document.addEventListener('aos:changed', () => void countAgain());

// Counts of pages that do not follow by themselves. After half an hour without a key or a pointer they rest, so that an
// open tab keeps no session alive.
const COUNT_MS = 20_000;
const REST_MS = 30 * 60_000;
let touched = Date.now();
for (const name of ['pointermove', 'keydown', 'visibilitychange'])
  document.addEventListener(name, () => (touched = Date.now()), { passive: true });
if (document.querySelector('[data-badge]'))
  setInterval(() => {
    if (!document.hidden && Date.now() - touched < REST_MS) void countAgain();
  }, COUNT_MS);

// "All events" and single ones are told apart while they are ticked: the last tick counts.
for (const all of document.querySelectorAll('input[name="events"][value="*"]')) {
  const others = () => [...all.form.querySelectorAll('input[name="events"]')].filter((box) => box !== all);
  all.form.addEventListener('change', ({ target }) => {
    if (target === all && all.checked) for (const box of others()) box.checked = false;
    else if (target.name === 'events' && target !== all && target.checked) all.checked = false;
  });
}

// A link that reloads a form takes along what was typed into this field.
document.addEventListener('click', (event) => {
  const link = event.target.closest('a[data-keep]');
  const field = link && document.querySelector(`input[name="${link.dataset.keep}"]`);
  if (!field || field.value === field.defaultValue) return;
  const target = new URL(link.href);
  target.searchParams.set(field.name, field.value);
  link.href = target.href;
});
