// The form of a row stands once on a page, as a dialog, and not in every row: comfort only. `a[data-opens="mute"]`
// opens the dialog `mute` beside itself for its row: the data of the `[data-ref]` around the link fill its
// `[data-of-row]`. Without scripts, or in a new tab, the link leads to the page that does the same.
(() => {
  const BESIDE = 8;
  const GAP = 4;
  const rowOf = (link) => link.closest('[data-ref]');
  const dialogOf = (link) => document.getElementById(link.dataset.opens);

  function fill(dialog, link) {
    const said = { ...rowOf(link).dataset, href: link.href };
    for (const one of dialog.querySelectorAll('[data-of-row]')) {
      const value = said[one.dataset.ofRow] ?? '';
      if (one.matches('input')) one.value = value;
      else if (one.matches('a')) one.href = value;
      else one.textContent = value;
    }
  }

  /** Below the link, above it where there is no room; never beside the window. It moves with the page. */
  function place(dialog, link) {
    // A link of a menu is beside the button that opens it.
    const at = (link.closest('.dropdown-menu')?.parentElement ?? link).getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = dialog;
    const wide = document.documentElement.clientWidth - BESIDE;
    const left = at.left + width <= wide ? at.left : at.right - width;
    const above = at.bottom + GAP + height > innerHeight && at.top > GAP + height;
    dialog.style.left = `${scrollX + Math.max(BESIDE, Math.min(left, wide - width))}px`;
    dialog.style.top = `${scrollY + (above ? at.top - GAP - height : at.bottom + GAP)}px`;
    dialog.scrollIntoView({ block: 'nearest' });
  }

  function open(link) {
    const dialog = dialogOf(link);
    if (dialog.open) dialog.close();
    dialog.showModal();
    place(dialog, link);
  }

  function dress(root) {
    for (const link of root.querySelectorAll('a[data-opens]')) {
      link.setAttribute('role', 'button');
      link.setAttribute('aria-haspopup', 'dialog');
    }
  }
  dress(document);
  document.addEventListener('aos:renewed', (event) => dress(event.detail));

  document.addEventListener('click', (event) => {
    const link = event.target.closest?.('a[data-opens]');
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      fill(dialogOf(link), link);
      open(link);
    }
    // What is pressed beside a dialog is the dialog itself.
    if (event.target.matches?.('dialog.row-dialog')) event.target.close();
  });
  document.addEventListener('keydown', (event) => {
    const link = event.key === ' ' && event.target.closest?.('a[data-opens]');
    if (!link) return;
    event.preventDefault();
    link.click();
  });

  // A form that was refused comes filled in and open: it goes back to its row.
  for (const dialog of document.querySelectorAll('dialog.row-dialog[open]')) {
    const ref = dialog.querySelector('input[data-of-row="ref"]').value;
    const links = [...document.querySelectorAll(`a[data-opens="${dialog.id}"]`)];
    const link = links.find((one) => rowOf(one).dataset.ref === ref);
    if (link) open(link);
  }
})();
