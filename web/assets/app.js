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

for (const button of document.querySelectorAll('[data-copy]')) {
  button.hidden = false;
  button.addEventListener('click', () => void copy(button));
}

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

const menus = () => document.querySelectorAll('details[data-menu][open], details.drawer[open]');
document.addEventListener('click', (event) => {
  for (const menu of menus()) if (!menu.contains(event.target)) menu.open = false;
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
  all.addEventListener('change', () => {
    for (const box of document.querySelectorAll(`input[name="${all.dataset.selectAll}"]`)) box.checked = all.checked;
  });
}
