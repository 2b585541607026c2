// The search box: comfort only, since the form leads to /search without it. Ctrl+K opens it anywhere, "/" where the
// page has no search field of its own: with pages opened lately in this browser, the navigation and the actions of
// this page. Hits appear while somebody types (an ARIA combobox with a list box).
(() => {
  const WAIT_MS = 150;
  const RECENT = 'aos.recent';
  const MAX_RECENT = 6;
  const box = document.querySelector('form[data-search]');
  if (!box) return;
  const input = box.querySelector('input[name="q"]');
  const list = box.querySelector('.search-list');
  const opener = box.querySelector('.search-open');
  let timer = 0;
  let asked = null;
  let options = [];
  let at = -1;

  if (!document.querySelector('main [aria-keyshortcuts="/"]')) {
    input.setAttribute('aria-keyshortcuts', '/');
    input.dataset.shortcut = 'Search everything';
  }
  input.setAttribute('role', 'combobox');
  input.setAttribute('aria-expanded', 'false');
  input.setAttribute('aria-controls', list.id);
  input.setAttribute('aria-autocomplete', 'list');
  list.setAttribute('role', 'listbox');
  list.setAttribute('aria-label', 'Found');

  const element = (name, className, text) => {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    // A title may be in Hebrew or Arabic.
    if (text !== undefined) made.dir = 'auto';
    return made;
  };

  const textOf = (one) => (one.getAttribute('aria-label') ?? one.textContent).trim().replace(/\s+/g, ' ');

  function readRecent() {
    try {
      const stored = JSON.parse(localStorage.getItem(RECENT) ?? '[]');
      return Array.isArray(stored) ? stored.filter(({ title, href }) => title && href?.startsWith('/')) : [];
    } catch {
      // Storage may be closed, or hold something else.
      return [];
    }
  }

  const places = [...document.querySelectorAll('aside .navbar-nav a')].map((link) => ({
    title: textOf(link.querySelector('.nav-link-title') ?? link),
    href: link.getAttribute('href'),
  }));
  const recent = readRecent().filter(({ href }) => href !== location.pathname);
  const isPlace = places.some(({ href }) => href === location.pathname) || location.pathname === '/search';
  if (!isPlace && document.querySelector('main h1') && !document.querySelector('main [data-error]')) {
    const title = document.title.replace(/ · [^·]*$/, '');
    try {
      const next = [{ title, href: location.pathname }, ...recent].slice(0, MAX_RECENT);
      localStorage.setItem(RECENT, JSON.stringify(next));
    } catch {
      // Without storage there is nothing recent.
    }
  }

  /** The buttons and links in the header of this page, in its menus too. */
  function listActions() {
    const found = document.querySelectorAll(
      'main .page-head :is(a.btn, a.dropdown-item, button, summary):not([hidden], [disabled], .btn-action)',
    );
    const all = [...found].filter(
      (one) => textOf(one) !== '' && !one.closest('.dropdown-menu form:has(input[type="text"], textarea)'),
    );
    return all.map((one) => ({ title: textOf(one), activates: one }));
  }

  function activate(target) {
    leave();
    for (let menu = target.parentElement.closest('details'); menu; menu = menu.parentElement.closest('details'))
      if (!target.matches('summary') || menu !== target.parentElement) menu.open = true;
    if (target.matches('summary')) {
      const details = target.parentElement;
      details.open = true;
      (details.querySelector('input:not([type=hidden]), textarea, select, a, button') ?? target).focus();
    } else target.click();
  }

  const matches = (typed) => {
    const words = typed.toLowerCase().split(/\s+/);
    return ({ title }) => words.every((word) => title.toLowerCase().includes(word));
  };

  function showStart() {
    options = [];
    at = -1;
    const parts = [
      ['Recent', recent],
      ['On this page', listActions()],
      ['Go to', places.filter(({ href }) => href !== location.pathname)],
    ];
    list.replaceChildren(...parts.filter(([, hits]) => hits.length > 0).map(([label, hits]) => group(label, hits)));
    reveal();
  }

  function reveal() {
    list.hidden = false;
    input.setAttribute('aria-expanded', 'true');
  }

  function open() {
    box.classList.add('is-open');
    input.focus();
    input.select();
    if (input.value.trim() === '') showStart();
  }
  function close() {
    clearTimeout(timer);
    asked?.abort();
    list.hidden = true;
    options = [];
    at = -1;
    input.setAttribute('aria-expanded', 'false');
    input.removeAttribute('aria-activedescendant');
  }
  function leave() {
    close();
    box.classList.remove('is-open');
  }

  function choose(next) {
    options[at]?.setAttribute('aria-selected', 'false');
    at = next;
    const option = options[at];
    if (!option) return input.removeAttribute('aria-activedescendant');
    option.setAttribute('aria-selected', 'true');
    option.scrollIntoView({ block: 'nearest' });
    input.setAttribute('aria-activedescendant', option.id);
  }

  function option({ title, href, detail, state, activates }) {
    const row = element(activates ? 'button' : 'a', 'search-hit dropdown-item');
    row.id = `search-hit-${options.length}`;
    if (activates) {
      row.type = 'button';
      row.addEventListener('click', () => activate(activates));
    } else row.href = href;
    row.tabIndex = -1;
    row.setAttribute('role', 'option');
    row.setAttribute('aria-selected', 'false');
    const text = element('span', 'search-hit-text');
    text.append(element('span', 'search-title', title));
    if (detail) text.append(element('span', 'cell-sub', detail));
    row.append(text);
    if (state) row.append(element('span', 'badge bg-secondary-lt', state.replaceAll('_', ' ')));
    options.push(row);
    return row;
  }

  function group(label, hits) {
    const part = element('div');
    part.setAttribute('role', 'group');
    part.setAttribute('aria-label', label);
    const head = element('div', 'dropdown-header', label);
    head.setAttribute('aria-hidden', 'true');
    part.append(head, ...hits.map(option));
    return part;
  }

  function show(typed, found) {
    options = [];
    at = -1;
    list.replaceChildren();
    const actions = listActions().filter(matches(typed));
    if (found.exact) list.append(group('Go to', [{ title: typed, href: found.exact }]));
    if (actions.length > 0) list.append(group('On this page', actions));
    for (const { label, hits } of found.kinds) list.append(group(label, hits));
    if (options.length === 0) list.append(element('p', 'dropdown-header', 'No results'));
    else {
      const all = `/search?${new URLSearchParams({ q: typed })}`;
      list.append(option({ title: 'View all results', href: all }));
    }
    for (const label of found.missing) list.append(element('p', 'dropdown-header', `${label} did not answer in time`));
    reveal();
    const count = options.length === 0 ? 'No results' : `${options.length - 1} results`;
    window.say?.(count);
  }

  async function ask() {
    const typed = input.value.trim();
    asked?.abort();
    if (typed === '') return showStart();
    asked = new AbortController();
    try {
      const url = `${box.dataset.search}?${new URLSearchParams({ q: typed })}`;
      const answer = await fetch(url, {
        headers: { accept: 'application/json' },
        credentials: 'same-origin',
        redirect: 'error',
        signal: asked.signal,
      });
      if (answer.ok && typed === input.value.trim()) show(typed, await answer.json());
    } catch {
      // The form itself still works; what was aborted is no fault.
    }
  }

  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => void ask(), WAIT_MS);
  });
  input.addEventListener('keydown', (event) => {
    if (event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && options.length > 0) {
      event.preventDefault();
      choose((at + step + options.length + (at < 0 && step < 0 ? 1 : 0)) % options.length);
    } else if (event.key === 'Enter' && options[at]) {
      event.preventDefault();
      options[at].click();
    } else if (event.key === 'Escape') {
      event.preventDefault();
      if (list.hidden) input.blur();
      leave();
    }
  });
  input.addEventListener('click', () => {
    if (list.hidden && input.value.trim() === '') showStart();
  });
  // Without a choice the form goes to /search, which itself leads on to what was named in full.
  box.addEventListener('focusout', (event) => {
    if (!box.contains(event.relatedTarget)) leave();
  });
  list.addEventListener('pointerdown', (event) => event.preventDefault());
  opener.addEventListener('click', (event) => {
    event.preventDefault();
    open();
  });

  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing || event.altKey || event.shiftKey) return;
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
      if (document.querySelector('dialog[open]')) return;
      event.preventDefault();
      open();
    }
  });
})();
