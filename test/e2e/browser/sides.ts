/**
 * Text in Hebrew and Arabic letters has a side of its own (contract 80, look). Code and raw traces
 * go from left to right.
 */
export interface Sides {
  /** How many texts in these letters the page shows. */
  seen: number;
  faults: string[];
}

/** Pages that show what somebody wrote, where a text that is not shown at all would go unseen. */
export const SHOWS_TEXT = new Set([
  '/',
  '/bugs',
  '/bugs/{ref}',
  '/errors',
  '/monitors',
  '/monitors/{source}',
  '/projects/{slug}',
  '/search',
]);

/**
 * Where a text of such letters stands in no element with a side, and in which the fields take none.
 */
export const SIDES = `(() => {
  const letters = /[\\u0590-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufefc]/;
  const where = (one) => one.tagName.toLowerCase() + '.' + one.className + ' in ' + one.parentElement.outerHTML.slice(0, 160);
  const faults = [];
  let seen = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const { parentElement: one, data } = walker.currentNode;
    if (!letters.test(data)) continue;
    seen += 1;
    if (!one.closest('[dir="auto"], code, pre, script, svg')) faults.push(where(one));
  }
  for (const one of document.querySelectorAll('input[type="text"], input[type="search"], textarea'))
    if (letters.test(one.value) && one.dir !== 'auto' && !one.matches('.font-monospace')) faults.push('value of ' + where(one));
  return { seen, faults };
})()`;
