// Pages that follow by themselves: comfort only. A page with `data-live-topics` hears by server-sent events that
// something of it has changed, asks for itself again, and takes over the parts that differ. Nothing moves under a hand:
// a part in which somebody types, has ticked a box, opened a menu, marked text or reads out a chart waits. After half
// an hour without a key or a pointer the page stops, so that an open tab does not keep a session alive for ever.
(() => {
  const main = document.querySelector('main[data-live-topics]');
  if (!main || !('EventSource' in window)) return;
  const LEAST_MS = 4000;
  const REST_MS = 30 * 60_000;
  const AGAIN_MS = 30_000;
  const sign = document.querySelector('[data-follow]');
  const address = `/live?${new URLSearchParams({ topics: main.dataset.liveTopics })}`;
  let source = null;
  let timer = 0;
  let rest = 0;
  let again = 0;
  let asked = 0;
  let waiting = false;

  const tell = (text, state) => {
    sign.hidden = false;
    sign.dataset.follow = state;
    sign.textContent = text;
  };

  /** What a part says, without what is another at every answer: form tokens and ages. */
  function said(part) {
    const copy = part.cloneNode(true);
    for (const field of copy.querySelectorAll('input[name="csrf_token"], input[name="form_id"]')) field.remove();
    for (const age of copy.querySelectorAll('time .age')) age.remove();
    for (const extra of copy.querySelectorAll('[data-copy]')) extra.hidden = true;
    return copy.outerHTML;
  }

  function busy(part) {
    // The dialog of a row goes back to the link that opened it.
    if (main.querySelector('dialog[open]')) return true;
    const focused = document.activeElement;
    if (part.contains(focused) && focused.matches('input, textarea, select, summary, button, [role="slider"]'))
      return true;
    if (part.querySelector('details[open].dropdown, details[open] form, input[type="checkbox"][name="ids"]:checked'))
      return true;
    // A chart is being read out under the pointer, or a range of it is selected.
    if (part.querySelector('[role="slider"]:hover, .event-chart:hover, .event-brush')) return true;
    const marked = getSelection();
    return !marked.isCollapsed && part.contains(marked.anchorNode);
  }

  const DEEP =
    /(^|\s)(container-fluid|settings|settings-page|vstack|columns|columns-main|columns-side|grid-cards|panel|home(-(columns|side|needs|stats|states|panel))?)(\s|$)/;

  function takeOver(old, fresh) {
    // What was said of the last step stays; it is told once.
    if (old.matches('[data-flash]') || old.isEqualNode(fresh) || said(old) === said(fresh)) return;
    const [mine, theirs] = [[...old.children], [...fresh.children]];
    const alike = mine.length === theirs.length && mine.every((child, i) => child.tagName === theirs[i].tagName);
    if (old.tagName === fresh.tagName && old.className === fresh.className && DEEP.test(old.className) && alike) {
      mine.forEach((child, i) => takeOver(child, theirs[i]));
      return;
    }
    if (busy(old)) {
      waiting = true;
      return;
    }
    const focused = old.contains(document.activeElement) ? document.activeElement.getAttribute('href') : null;
    const open = new Set(
      [...old.querySelectorAll('details[open]')].map((one) => one.querySelector('summary').textContent.trim()),
    );
    for (const details of fresh.querySelectorAll('details')) {
      if (open.has(details.querySelector('summary').textContent.trim())) details.open = true;
    }
    const made = document.adoptNode(fresh);
    old.replaceWith(made);
    if (focused)
      [...made.querySelectorAll('a')]
        .find((link) => link.getAttribute('href') === focused)
        ?.focus({ preventScroll: true });
    document.dispatchEvent(new CustomEvent('aos:renewed', { detail: made }));
  }

  async function renew() {
    clearTimeout(timer);
    timer = 0;
    asked = Date.now();
    waiting = false;
    try {
      const answer = await fetch(location.href, {
        headers: { accept: 'text/html' },
        credentials: 'same-origin',
        cache: 'no-store',
        redirect: 'error',
      });
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const fresh = page.querySelector('main > .container-fluid');
      if (fresh) takeOver(main.querySelector('.container-fluid'), fresh);
      document.dispatchEvent(new CustomEvent('aos:changed'));
    } catch {
      // The next change asks again.
    }
    if (waiting) soon(AGAIN_MS);
  }

  /** Not more often than every few seconds, however much happens. */
  function soon(ms = 0) {
    if (timer) return;
    timer = setTimeout(() => void renew(), Math.max(ms, asked + LEAST_MS - Date.now()));
  }

  function stop(text) {
    source?.close();
    source = null;
    clearTimeout(again);
    again = 0;
    if (text) tell(text, 'off');
  }

  function start(catchUp) {
    if (source || document.visibilityState !== 'visible') return;
    clearTimeout(again);
    again = 0;
    source = new EventSource(address);
    source.addEventListener('open', () => {
      tell('Live', 'on');
      // What happened between two connections was told to nobody.
      if (catchUp) soon();
      catchUp = true;
    });
    source.addEventListener('changed', () => soon());
    source.addEventListener('error', () => {
      tell('Reconnecting', 'off');
      // Refused: signed out, or too many open pages. The browser does not try again by itself.
      if (source?.readyState !== EventSource.CLOSED) return;
      stop();
      again = setTimeout(() => start(true), AGAIN_MS);
    });
  }

  function used() {
    clearTimeout(rest);
    rest = setTimeout(() => stop('Paused while idle'), REST_MS);
    if (!source && !again) start(true);
  }
  for (const name of ['pointerdown', 'keydown', 'scroll']) addEventListener(name, used, { passive: true });
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') start(true);
    else stop();
  });
  // A page that the browser keeps for "back" must hold no stream.
  addEventListener('pagehide', () => stop());
  addEventListener('pageshow', (event) => event.persisted && start(true));
  used();
})();
