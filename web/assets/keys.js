// Keyboard shortcuts: comfort only. A page names its own with `aria-keyshortcuts` and `data-shortcut` (what it does) on
// the control that does it; lists with `data-rows` have j, k, o and x. Never while a field has the focus, never with
// Ctrl, Alt or Meta, and they can be switched off (WCAG 2.1.4), which this browser remembers.
(() => {
  const OFF = 'aos.keys';
  const GO = {
    d: '/',
    h: '/',
    b: '/bugs',
    i: '/bugs',
    e: '/errors',
    a: '/agents',
    m: '/monitors',
    r: '/releases',
    c: '/machines',
    l: '/licenses',
    s: '/settings',
  };
  const GO_MS = 1200;
  const TYPING =
    'input:not([type=checkbox]):not([type=radio]):not([type=button]):not([type=submit]), textarea, select, [contenteditable]';
  const dialog = document.getElementById('keys');
  if (!dialog?.showModal) return;

  /** Storage may be closed to the page; then shortcuts are on. */
  const stored = () => {
    try {
      return localStorage.getItem(OFF);
    } catch {
      return null;
    }
  };
  let on = stored() !== 'off';
  let goUntil = 0;

  const rows = () =>
    [...document.querySelectorAll('table[data-rows] > tbody > tr')].filter(
      (row) => row.offsetParent !== null || row.getClientRects().length > 0,
    );
  const linkOf = (row) => row.querySelector('.cell-main a');
  const currentRow = () =>
    document.activeElement?.closest('table[data-rows] > tbody > tr') ?? document.querySelector('tr.is-current');

  function mark(row) {
    for (const old of document.querySelectorAll('tr.is-current')) old.classList.remove('is-current');
    row?.classList.add('is-current');
  }
  document.addEventListener('focusin', (event) => {
    const row = event.target.closest?.('table[data-rows] > tbody > tr');
    if (row) mark(row);
  });

  function move(step) {
    const all = rows();
    if (all.length === 0) return false;
    const at = all.indexOf(currentRow());
    const next = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + step, 0), all.length - 1)];
    linkOf(next).focus({ preventScroll: true });
    next.scrollIntoView({ block: 'nearest' });
    return true;
  }

  const boxOf = (row) => row?.querySelector('input[name="ids"]');

  /** A click, so that lists.js learns of it: with Shift it reaches from the row that was ticked before. */
  function select(shiftKey = false) {
    const box = boxOf(currentRow());
    box?.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, shiftKey }));
    return Boolean(box);
  }

  /** Goes on and takes the rows along. */
  function stretch(step) {
    const box = boxOf(currentRow());
    if (!box) return false;
    if (!box.checked) select();
    move(step);
    const next = boxOf(currentRow());
    if (next && !next.checked) select();
    return true;
  }

  function open() {
    const link = currentRow() && linkOf(currentRow());
    link?.click();
    return Boolean(link);
  }

  /** Opens a form and goes to its first field, follows a link, goes to a field. */
  function activate(target) {
    if (target.matches('summary')) {
      const details = target.parentElement;
      for (let one = details; one; one = one.parentElement.closest('details')) one.open = true;
      details.scrollIntoView({ block: 'nearest' });
      (details.querySelector('input:not([type=hidden]), textarea, select, button') ?? target).focus();
    } else if (target.matches('a, button')) target.click();
    else {
      // A list's action is for ticked rows: without one, the current row is meant.
      const form = target.closest('form[data-bulk]');
      if (form && !form.querySelector('input[name="ids"]:checked')) select();
      if (target.dataset.shortcutValue) target.value = target.dataset.shortcutValue;
      target.focus();
      target.select?.();
      target.scrollIntoView({ block: 'nearest' });
    }
    return true;
  }

  const shown = (element) => element.getClientRects().length > 0;
  /** Shown, or in a menu that is. */
  const reachable = (one) => {
    const menu = one.closest('details')?.parentElement.closest('details');
    return shown(one) || Boolean(menu && shown(menu));
  };
  const named = (key) => {
    const all = [...document.querySelectorAll('[aria-keyshortcuts]')];
    const ones = all.filter((one) => one.getAttribute('aria-keyshortcuts') === key && reachable(one));
    return ones.find(shown) ?? ones[0];
  };

  function run(key) {
    if (Date.now() < goUntil) {
      goUntil = 0;
      if (!Object.hasOwn(GO, key)) return false;
      location.assign(GO[key]);
      return true;
    }
    const inRow = currentRow()?.querySelector(`[data-row-key="${CSS.escape(key)}"]`);
    if (inRow) {
      location.assign(inRow.href);
      return true;
    }
    const target = named(key);
    if (target) return activate(target);
    if (key === 'g') {
      goUntil = Date.now() + GO_MS;
      return true;
    }
    if (key === 'j') return move(1);
    if (key === 'k') return move(-1);
    if (key === 'J') return stretch(1);
    if (key === 'K') return stretch(-1);
    if (key === 'o') return open();
    return (key === 'x' || key === 'X') && select(key === 'X');
  }

  function row(keys, text) {
    const line = document.createElement('div');
    line.className = 'datagrid-item';
    const term = document.createElement('dt');
    keys.forEach((key, i) => {
      if (i > 0) term.append(' ');
      const cap = document.createElement('kbd');
      cap.textContent = key;
      term.append(cap);
    });
    const what = document.createElement('dd');
    what.textContent = text;
    line.append(term, what);
    return line;
  }

  function help() {
    const list = dialog.querySelector('[data-keys-page]');
    list.replaceChildren();
    if (rows().length > 0) {
      list.append(row(['j', 'k'], 'Next or previous row'), row(['o', 'Enter'], 'Open row'));
      if (document.querySelector('table[data-rows] input[name="ids"]')) {
        list.append(row(['x'], 'Select row'), row(['Shift', 'x'], 'Select range'));
        list.append(row(['Shift', 'j'], 'Extend selection down'));
      }
      if (document.querySelector('[data-row-key="i"]')) list.append(row(['i'], 'Mute row'));
    }
    for (const one of document.querySelectorAll('[aria-keyshortcuts][data-shortcut]')) {
      if (reachable(one)) list.append(row([one.getAttribute('aria-keyshortcuts')], one.dataset.shortcut));
    }
    dialog.querySelector('[data-keys-here]').hidden = list.childElementCount === 0;
    dialog.showModal();
  }

  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector('dialog[open]')) return;
    const typing = event.target.closest?.(TYPING);
    if (typing) {
      if (event.key === 'Escape') typing.blur();
      return;
    }
    if (event.key === '?') {
      event.preventDefault();
      help();
    } else if (on && event.key.length === 1 && run(event.key)) event.preventDefault();
  });

  const toggle = dialog.querySelector('[data-keys-switch]');
  toggle.checked = on;
  toggle.addEventListener('change', () => {
    on = toggle.checked;
    try {
      localStorage.setItem(OFF, on ? 'on' : 'off');
    } catch {
      // Without storage the choice holds for this page.
    }
  });
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close();
  });
  for (const button of document.querySelectorAll('[data-keys-open]')) {
    button.hidden = false;
    button.addEventListener('click', help);
  }
})();
