// Live lists: comfort only. While the tab is visible, asks every few seconds what changed since the last mark
// (`data-live`, web/partials/live.hbs) and updates the numbers in the existing rows. Rows never move: new ones are
// announced with a link. Ages of all times on the page are kept true, too.
(() => {
  const EVERY_MS = 4000;
  const SLOWEST_MS = 60_000;
  const numbers = new Intl.NumberFormat('en-GB');

  /** As web/helpers/time.ts says it. */
  function age(at) {
    const distance = Math.abs(Date.now() - at);
    if (distance < 10_000) return 'just now';
    const steps = [
      [60_000, 1000, 's'],
      [3_600_000, 60_000, 'min'],
      [172_800_000, 3_600_000, 'h'],
      [5_184_000_000, 86_400_000, 'd'],
      [63_072_000_000, 2_630_016_000, 'mo'],
      [Infinity, 31_557_600_000, 'y'],
    ];
    const [, unit, name] = steps.find(([below]) => distance < below);
    const text = `${Math.floor(distance / unit)} ${name}`;
    return at <= Date.now() ? `${text} ago` : `in ${text}`;
  }
  const ages = () => {
    for (const span of document.querySelectorAll('time[datetime] > .age')) {
      const text = age(Date.parse(span.parentElement.getAttribute('datetime')));
      if (span.textContent !== text) span.textContent = text;
    }
  };
  setInterval(() => document.visibilityState === 'visible' && ages(), 20_000);

  const box = document.querySelector('[data-live]');
  if (!box) return;
  const switched = box.querySelector('[data-live-switch]');
  const text = box.querySelector('[data-live-text]');
  const more = box.querySelector('[data-live-more]');
  const fresh = new Set();
  let mark = box.dataset.mark;
  let on = true;
  let wait = EVERY_MS;
  let timer = 0;
  let asking = false;
  box.hidden = false;

  const rowOf = (ref) => [...document.querySelectorAll('tr[data-ref]')].find((row) => row.dataset.ref === ref);

  function write(row, field, value) {
    const cell = row.querySelector(`[data-field="${field}"]`);
    if (!cell || cell.textContent.trim() === value) return false;
    cell.textContent = value;
    return true;
  }

  function update(row, group) {
    let changed = write(row, 'hits', numbers.format(group.hit_count));
    changed = write(row, 'hour', numbers.format(group.hour_count)) || changed;
    const time = row.querySelector('[data-field="seen"] time');
    if (time && time.getAttribute('datetime') !== group.last_seen_at) {
      time.setAttribute('datetime', group.last_seen_at);
      time.removeAttribute('title');
      time.querySelector('.age').textContent = age(Date.parse(group.last_seen_at));
      changed = true;
    }
    const said = row.querySelector('[data-field="status"] .badge');
    const words = group.status === 'wont_fix' ? 'won’t fix' : group.status.replaceAll('_', ' ');
    const status = words.charAt(0).toUpperCase() + words.slice(1);
    if (said && said.textContent !== status) {
      // The word alone: its colour comes with the next look at the page.
      said.className = 'badge badge-sign bg-secondary-lt';
      said.textContent = status;
      changed = true;
    }
    row.classList.toggle('is-gone', !group.fits);
    if (!changed) return;
    row.classList.remove('is-fresh');
    requestAnimationFrame(() => requestAnimationFrame(() => row.classList.add('is-fresh')));
  }

  function take({ rows, mark: next }) {
    mark = next;
    for (const group of rows) {
      const row = rowOf(group.ref);
      if (row) update(row, group);
      else if ('first' in box.dataset && group.fits && group.created_at > box.dataset.from) fresh.add(group.ref);
    }
    if (rows.length > 0) document.dispatchEvent(new CustomEvent('aos:changed'));
    if (fresh.size === 0) return;
    more.hidden = false;
    more.textContent = `${fresh.size} new – show`;
  }

  function stop(why) {
    on = false;
    clearTimeout(timer);
    switched.setAttribute('aria-pressed', 'false');
    text.textContent = why;
  }

  async function ask() {
    clearTimeout(timer);
    if (!on || asking || document.visibilityState !== 'visible') return;
    asking = true;
    try {
      const url = new URL(box.dataset.live, location.href);
      url.searchParams.set('since', mark);
      const answer = await fetch(url, {
        headers: { accept: 'application/json' },
        credentials: 'same-origin',
        cache: 'no-store',
        redirect: 'error',
      });
      if (answer.status === 401 || answer.status === 403) return stop('Signed out');
      if (!answer.ok) throw new Error(String(answer.status));
      take(await answer.json());
      wait = EVERY_MS;
      // It may have been stopped meanwhile.
      if (on) text.textContent = 'Live';
    } catch {
      wait = Math.min(wait * 2, SLOWEST_MS);
      if (on) text.textContent = 'Reconnecting';
    } finally {
      asking = false;
    }
    if (on) timer = setTimeout(() => void ask(), wait);
  }

  switched.addEventListener('click', () => {
    if (on) return stop('Paused');
    on = true;
    wait = EVERY_MS;
    switched.setAttribute('aria-pressed', 'true');
    text.textContent = 'Live';
    void ask();
  });
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState !== 'visible') return clearTimeout(timer);
    ages();
    void ask();
  });
  timer = setTimeout(() => void ask(), EVERY_MS);
})();
