/**
 * What is wrong with how a page is laid out at the window's width, as a script of the page: it
 * scrolls sideways, text is cut off without a sign, controls lie over one another or beside the
 * window, an opened menu sticks out. What is folded or hidden does not count. Answers sentences;
 * none: all is well.
 */
const MEASURE = `(async () => {
  const faults = [];
  const width = document.documentElement.clientWidth;
  const name = (one) => {
    const text = (one.getAttribute('aria-label') ?? one.textContent ?? '').trim().replace(/\\s+/g, ' ').slice(0, 24);
    const kind = (one.getAttribute('class') ?? '').split(' ').slice(0, 3).join('.');
    return one.tagName.toLowerCase() + (kind && '.' + kind) + (text && ' “' + text + '”');
  };
  const visibly = { visibilityProperty: true, opacityProperty: true };
  const seen = (one) => one.checkVisibility(visibly);
  const AWAY = ':is(.visually-hidden, .visually-hidden-focusable, svg, [hidden])';
  const all = [...document.querySelectorAll('body *:not(' + AWAY + ', ' + AWAY + ' *)')].filter(seen);
  const bodies = new Map([[document.body, null], [null, null]]);
  /** Of an element by what is around it, each asked once. */
  const inherited = (of) => {
    const known = new Map(bodies);
    const ask = (one) => {
      if (!known.has(one)) known.set(one, of(one, ask(one.parentElement)));
      return known.get(one);
    };
    return ask;
  };
  const styles = new Map();
  const overflow = (one) => {
    let known = styles.get(one);
    if (known === undefined) {
      const { overflowX, overflowY, position } = getComputedStyle(one);
      styles.set(one, (known = { overflowX, overflowY, position }));
    }
    return known;
  };
  const scrolls = (value) => value === 'auto' || value === 'scroll';
  const clips = (value) => value === 'hidden' || value === 'clip';
  /** May be scrolled by hand, inside of the page. */
  const scroller = inherited((one, above) => (scrolls(overflow(one).overflowX) ? one : above));

  // Sideways.
  const wide = document.documentElement.scrollWidth - width;
  if (wide > 0) {
    const over = all.filter((one) => one.getBoundingClientRect().right > width + 1 && !scroller(one));
    const inner = over.filter((one) => ![...one.children].some((child) => over.includes(child)));
    faults.push('scrolls sideways by ' + wide + ': ' + inner.slice(0, 3).map(name).join(' | '));
  }
  for (const one of all) {
    if (!scrolls(overflow(one).overflowX)) continue;
    const hidden = one.scrollWidth - one.clientWidth;
    if (hidden <= 1 || one.matches('pre, textarea')) continue;
    // It fades out where it goes on.
    if (getComputedStyle(one).animationName === 'fades' && !one.matches('.table-card')) continue;
    const inner = [...one.querySelectorAll('*')].filter((part) => part.getBoundingClientRect().right > one.getBoundingClientRect().right + 1);
    const last = inner.filter((part) => !inner.some((other) => part !== other && part.contains(other)));
    faults.push('a part scrolls sideways by ' + hidden + ': ' + name(one) + ' for ' + last.slice(0, 3).map(name).join(' | '));
  }

  // Beside the window, where no scrolling leads.
  for (const one of all) {
    if (!one.matches('a, button, input, select, textarea, p, h1, h2, h3, td')) continue;
    const { left, right, width: own } = one.getBoundingClientRect();
    if (own > 1 && left < -1 && right > -own && !scroller(one)) faults.push('begins beside the window: ' + name(one));
  }

  // Cut off.
  for (const one of all) {
    const { overflowX, overflowY } = overflow(one);
    const boxed = !clips(overflowX) && one.matches('.btn, .badge, .tag, td, th, .dropdown-item, .nav-link');
    if (!boxed && !clips(overflowX) && !clips(overflowY)) continue;
    if (one.matches('input, select, textarea, progress, img, html, body')) continue;
    const texts = [...one.childNodes].filter((node) => node.nodeType === 3 && node.textContent.trim() !== '');
    if (texts.length === 0) continue;
    const cutBeside = clips(overflowX) && one.scrollWidth > one.clientWidth + 1;
    const cutBelow = clips(overflowY) && one.scrollHeight > one.clientHeight + 2 && one.clientHeight > 0;
    if (cutBeside || cutBelow) {
      const { textOverflow, webkitLineClamp } = getComputedStyle(one);
      const titled = one.closest('[title]') !== null || one.querySelector('[title]') !== null;
      if (cutBeside && textOverflow !== 'ellipsis' && !titled) faults.push('is cut off: ' + name(one));
      else if (cutBelow && webkitLineClamp === 'none' && !titled) faults.push('is cut off below: ' + name(one));
    }
    // Its letters stick out of a box that people take for theirs.
    if (!boxed) continue;
    const box = one.getBoundingClientRect();
    const out = texts.some((node) => {
      const range = document.createRange();
      range.selectNodeContents(node);
      const letters = range.getBoundingClientRect();
      return letters.width > 0 && (letters.right > box.right + 2 || letters.left < box.left - 2);
    });
    if (out) faults.push('its text sticks out: ' + name(one));
  }

  // Over one another.
  const floats = inherited((one, above) => (['fixed', 'sticky'].includes(overflow(one).position) ? one : above));
  const inside = (box, edge) => edge === null ? box : {
    left: Math.max(box.left, edge.left), right: Math.min(box.right, edge.right),
    top: Math.max(box.top, edge.top), bottom: Math.min(box.bottom, edge.bottom),
  };
  /** What of its content an element and its surroundings leave to be seen; null: all. */
  const shown = inherited((one, above) => {
    const { overflowX, overflowY } = overflow(one);
    return overflowX === 'visible' && overflowY === 'visible' ? above : inside(one.getBoundingClientRect(), above);
  });
  const controls = all
    .filter((one) => one.matches('a[href], button, input:not([type=hidden]), select, textarea, summary'))
    .map((one) => ({ one, floats: floats(one), boxes: [...one.getClientRects()].map((box) => inside(box, shown(one.parentElement))).filter((box) => box.right - box.left > 2 && box.bottom - box.top > 2) }))
    .filter(({ boxes }) => boxes.length > 0)
    .sort((a, b) => a.boxes[0].top - b.boxes[0].top);
  for (let i = 0; i < controls.length; i++) {
    const a = controls[i];
    const bottom = Math.max(...a.boxes.map((box) => box.bottom));
    for (let j = i + 1; j < controls.length && controls[j].boxes[0].top < bottom; j++) {
      const b = controls[j];
      if (a.floats !== b.floats || a.one.contains(b.one) || b.one.contains(a.one)) continue;
      const over = a.boxes.some((x) => b.boxes.some((y) =>
        Math.min(x.right, y.right) - Math.max(x.left, y.left) > 3 && Math.min(x.bottom, y.bottom) - Math.max(x.top, y.top) > 3));
      if (over) faults.push('lie over one another: ' + name(a.one) + ' and ' + name(b.one));
    }
  }

  // Menus, one of each kind.
  const kinds = new Map();
  for (const menu of document.querySelectorAll('details.dropdown:not([open])')) {
    const kind = (menu.querySelector('summary')?.textContent ?? '').replace(/\\d|\\s/g, '').slice(0, 12);
    if (!kinds.has(kind) && seen(menu)) kinds.set(kind, menu);
  }
  for (const menu of kinds.values()) menu.open = true;
  // The page is told of it in a task of its own.
  if (kinds.size > 0) await new Promise((done) => setTimeout(done, 0));
  for (const menu of kinds.values()) {
    const box = menu.querySelector('.dropdown-menu')?.getBoundingClientRect();
    if (box && box.width > 0 && (box.left < -1 || box.right > width + 1))
      faults.push('an opened menu sticks out, ' + Math.round(box.left) + ' to ' + Math.round(box.right) + ': ' + name(menu.querySelector('summary')));
    menu.open = false;
  }
  return [...new Set(faults)].slice(0, 6);
})()`;

/**
 * Every count of a page as if there were a million of it: numbers that stand alone, where they are
 * written in full.
 */
const MILLION = `(() => {
  for (const one of document.querySelectorAll('main *, aside *')) {
    const [only, ...more] = one.childNodes;
    if (more.length > 0 || only?.nodeType !== 3 || one.closest('pre, code, svg, [data-badge], option, textarea')) continue;
    if (one.closest('.nav-link, .figures b')) {
      if (/^\\s*\\d{1,3}\\s*$/.test(only.textContent)) only.textContent = '1M';
      continue;
    }
    const counted = only.textContent.replace(/^(\\s*)\\d{1,3}(\\s+[a-z]{3,})?(\\s*)$/, (_, a, noun, b) => a + '1,000,000' + (noun ?? '') + b);
    if (counted !== only.textContent) only.textContent = counted;
  }
})()`;

export { MEASURE, MILLION };
