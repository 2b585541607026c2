// Lists: comfort only. Filters apply when they are ticked, and Shift ticks all rows between two.
(() => {
  const KEPT = 'aos.filters';
  const FRESH_MS = 10_000;
  const RETRY_MS = 600;
  const APPLIES = 'input[type="checkbox"][name], select[name], input[type="date"][name]';
  const DAY = /^(?:19|[2-9]\d)\d\d-\d\d-\d\d$/;

  /** What is open and where the focus is, so that the next page looks as this one does. */
  function keep(form, field) {
    const open = [...form.querySelectorAll('details')].flatMap((one, i) => (one.open ? [i] : []));
    const folds = form.querySelector('.toolbar-switch')?.checked ?? false;
    const now = { path: location.pathname, at: Date.now(), open, folds, name: field.name, value: field.value };
    try {
      sessionStorage.setItem(KEPT, JSON.stringify(now));
    } catch {
      // Without storage the menus are closed again.
    }
  }

  function kept() {
    try {
      const text = sessionStorage.getItem(KEPT);
      sessionStorage.removeItem(KEPT);
      const was = JSON.parse(text ?? 'null');
      return was?.path === location.pathname && Date.now() - was.at < FRESH_MS ? was : null;
    } catch {
      return null;
    }
  }

  function apply(form) {
    const search = new URLSearchParams();
    for (const [name, value] of new FormData(form)) if (value !== '') search.append(name, value);
    location.assign(`${form.action.split('?')[0]}?${search}`);
  }

  const forms = [...document.querySelectorAll('form.toolbar[method="get"]')];
  for (const form of forms) {
    form.addEventListener('change', ({ target }) => {
      if (!target.matches(APPLIES)) return;
      // A year that is still being typed is a date, too.
      if (target.type === 'date' && target.value !== '' && !DAY.test(target.value)) return;
      keep(form, target);
      apply(form);
    });
  }

  const ofBox = (root, { name, value }) =>
    [...root.querySelectorAll('.pick input')].find((one) => one.name === name && one.value === value);

  /** The numbers come with the page where they are there in time; else when a menu is opened. */
  async function count(again) {
    const answer = await fetch(location.href, { credentials: 'same-origin' }).catch(() => null);
    if (!answer?.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const counts = page.querySelectorAll('.pick-count');
    if (counts.length === 0 && again) setTimeout(() => void count(false), RETRY_MS);
    for (const number of counts) {
      const label = ofBox(document, number.parentElement.querySelector('input'))?.parentElement;
      if (label && !label.querySelector('.pick-count')) label.append(document.importNode(number, true));
    }
  }
  for (const menu of document.querySelectorAll('form.toolbar details[data-counts]')) {
    const opened = () => menu.open && !menu.querySelector('.pick-count') && void count(true);
    menu.addEventListener('toggle', opened);
  }

  const was = forms.length > 0 ? kept() : null;
  if (was !== null) {
    for (const form of forms) {
      const all = [...form.querySelectorAll('details')];
      for (const i of was.open) if (all[i]) all[i].open = true;
      const folds = form.querySelector('.toolbar-switch');
      if (folds) folds.checked = was.folds;
      const fields = [...form.elements].filter(({ name }) => name === was.name);
      const field = fields.find(({ type, value }) => type !== 'checkbox' || value === was.value);
      field?.focus({ preventScroll: true });
    }
  }

  // Rows: the box that was ticked last, and all up to the one that is clicked with Shift.
  let from = null;
  document.addEventListener('click', (event) => {
    const box = event.target.closest?.('input[type="checkbox"][name="ids"]');
    if (!box) return;
    if (event.shiftKey && from?.isConnected) {
      const all = [...document.querySelectorAll('input[type="checkbox"][name="ids"]')];
      const [first, last] = [all.indexOf(from), all.indexOf(box)].toSorted((a, b) => a - b);
      for (const one of all.slice(first, last + 1)) one.checked = box.checked;
    }
    from = box;
  });
})();
