/**
 * What a text looks like is judged once. A look is all that axe-core's rules about colours ask for:
 * a text's colour, size and weight and every ground below it, as the browser computed them; for a
 * link in a text, those of the text too. A look that axe-core has passed is the same on the next
 * page, at the next width and in the other theme. What is placed over or under a text belongs to
 * its look, with its place. Judged each time: a text that is itself placed over others without a
 * ground of its own, and what axe-core was not sure of.
 */
import type { Page } from 'playwright-core';

export type Theme = 'light' | 'dark';
export const THEMES: readonly Theme[] = ['light', 'dark'];

/** As the system's choice does it, without another medium. */
export const SET_THEME = `(theme) => {
  document.documentElement.dataset.bsTheme = theme;
  document.documentElement.style.colorScheme = theme;
}`;

/** Texts of the page by their looks. */
const TEXTS = `() => {
  const seen = (one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const placed = [];
  const hasGround = (one) => {
    const { backgroundColor, backgroundImage } = getComputedStyle(one);
    return seen(one) && (backgroundColor !== 'rgba(0, 0, 0, 0)' || backgroundImage !== 'none');
  };
  const known = new Map();
  /** Backgrounds below an element; positioned, translucent ones are marked. */
  const grounds = (one) => {
    if (one === null) return '';
    if (!known.has(one)) {
      const style = getComputedStyle(one);
      const own = [style.backgroundColor, style.backgroundImage, style.opacity, style.filter, style.mixBlendMode].join(' ');
      const moved = style.position === 'absolute' || style.position === 'fixed' || style.transform !== 'none';
      if (moved && [one, ...one.querySelectorAll('*')].some(hasGround)) placed.push([one, one.getBoundingClientRect()]);
      const below = (own === 'rgba(0, 0, 0, 0) none 1 none normal' ? '' : own + '|') + (moved ? '!' : '') + grounds(one.parentElement);
      const opaque = style.backgroundColor.startsWith('rgb(') && style.mixBlendMode === 'normal';
      known.set(one, opaque ? below.replaceAll('!', '') : below);
    }
    return known.get(one);
  };
  const letters = (one) => {
    const { color, fontSize, fontWeight, textShadow, webkitTextStroke } = getComputedStyle(one);
    return [color, fontSize, fontWeight, textShadow, webkitTextStroke, grounds(one)].join(' ');
  };
  /** axe-core skips clipped content, fields without text and symbols. */
  const all = [...document.querySelectorAll('body, body *')].filter((one) => seen(one) && !one.closest('svg, progress, .visually-hidden, .visually-hidden-focusable'));
  const fields = 'input:not([type=hidden], [type=range], [type=color], [type=checkbox], [type=radio], [type=image]), select, textarea';
  for (const one of all) grounds(one);
  /** What is placed over it or below it, and where. */
  const overlaps = (one) => {
    const { left, right, top, bottom } = one.getBoundingClientRect();
    return placed
      .filter(([other, box]) => box.width * box.height > 4 && !one.contains(other) && !other.contains(one)
        && box.left < right && box.right > left && box.top < bottom && box.bottom > top)
      .map(([other, box]) => [' with', other.className, grounds(other), right - left, bottom - top, box.left - left, box.top - top, box.width, box.height].join(' '))
      .join();
  };
  const isBlock = (one) => /^(block|list-item|flex|grid|inline-block|table.*)$/.test(getComputedStyle(one).display);
  /**
   * Text next to links. axe-core checks a link only if the surrounding text is longer than the
   * links, and lets no inline-block end a text.
   */
  const endsText = (one) => /^(block|list-item|flex|grid|table.*)$/.test(getComputedStyle(one).display);
  const beside = (node) => [...node.childNodes].map((one) => one.nodeType === 3 ? one.data
    : one.nodeType === 1 && !endsText(one) && !one.matches('a[href]:not([role])') ? beside(one) : '').join('');
  const textOf = (one) => one.parentElement && !endsText(one) ? textOf(one.parentElement) : one;
  const letterCount = (text) => text.replaceAll(/\\s+/g, ' ').trim().length;
  const looks = new Map();
  const add = (kind, look, one) => {
    const name = look.includes('!') ? '' : kind + ' ' + look + overlaps(one);
    looks.set(name, [...(looks.get(name) ?? []), one]);
  };
  for (const one of all) {
    if (getComputedStyle(one).fontSize === '0px') continue;
    const texts = [...one.childNodes].some((node) => node.nodeType === 3 && /[\\p{L}\\p{N}]/u.test(node.data));
    if (texts || one.matches(fields)) add('color-contrast', letters(one), one);
    if (!one.matches('a[href]') || isBlock(one)) continue;
    if (letterCount(beside(textOf(one))) <= letterCount(one.textContent)) continue;
    let block = one.parentElement;
    while (block.parentElement && !isBlock(block)) block = block.parentElement;
    const { textDecoration, borderBottom, fontFamily, fontStyle } = getComputedStyle(one);
    add('link-in-text-block', [letters(one), textDecoration, borderBottom, fontFamily, fontStyle, letters(block)].join(' '), one);
  }
  return looks;
}`;

/**
 * Looks of the texts in each theme, which are kept in the page, and whether everything stands where
 * it stood in the other theme: asked at one moment, between which no clock goes on. Begins with the
 * theme that the page has.
 */
const LOOKS = (themes: readonly Theme[]): string => `(() => {
  const now = document.documentElement.dataset.bsTheme ?? 'light';
  const texts = ${TEXTS};
  const all = [...document.querySelectorAll('body *')];
  const seen = ${JSON.stringify(themes)}.sort((a) => (a === now ? -1 : 1)).map((theme) => {
    (${SET_THEME})(theme);
    const places = all.map((one) => one.getBoundingClientRect());
    return { theme, places, looks: texts() };
  });
  globalThis.looks = Object.fromEntries(seen.map(({ theme, looks }) => [theme, looks]));
  const [first, ...others] = seen.map(({ places }) => places);
  const same = (a, b) => a.x === b.x && a.y === b.y && a.width === b.width && a.height === b.height;
  return {
    still: others.every((places) => places.every((one, i) => same(one, first[i]))),
    looks: seen.toReversed().map(({ theme, looks }) => [theme, [...looks.keys()]]),
  };
})()`;

/**
 * Texts with these looks before axe-core: null when the page has others by now; what is wrong, and
 * the looks of which it passed one text and refused none.
 */
const JUDGED = (theme: Theme, looks: readonly string[]): string => `(async () => {
  (${SET_THEME})('${theme}');
  const byLook = globalThis.looks['${theme}'];
  const names = ${JSON.stringify(looks)};
  const include = [...new Set(names.flatMap((name) => byLook.get(name)))];
  if (include.some((one) => !one.isConnected)) return null;
  const values = ['color-contrast', 'link-in-text-block'];
  const found = await axe.run({ include }, { runOnly: { type: 'rule', values }, elementRef: true });
  const nodes = (results) => results.flatMap(({ id, nodes }) => nodes.map((one) => ({ id, ...one })));
  /** Letters on a picture are what axe-core never judges. */
  const onPicture = ({ any }) => any.some(({ data }) => data?.messageKey === 'bgImage');
  const open = nodes(found.incomplete);
  const doubtful = new Set([...nodes(found.violations), ...open.filter((one) => !onPicture(one))].map(({ element }) => element));
  /** axe-core passes, too, what it finds hidden: that has no contrast. */
  const passed = nodes(found.passes).filter(({ id, any }) => id !== 'color-contrast' || any.some(({ data }) => data?.contrastRatio > 0));
  passed.push(...open.filter(onPicture));
  const by = (rule) => new Set(passed.filter(({ id }) => id === rule).map(({ element }) => element));
  const rules = new Map(values.map((rule) => [rule, by(rule)]));
  const judged = names.filter((name) => {
    const texts = byLook.get(name);
    return name !== '' && texts.some((one) => rules.get(name.split(' ')[0]).has(one)) && !texts.some((one) => doubtful.has(one));
  });
  const violations = found.violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ target, failureSummary }) => ({ target, failureSummary })) }));
  return { judged, violations };
})()`;

export interface Violation {
  id: string;
  nodes: { target: string[]; failureSummary: string }[];
}

interface Judged {
  judged: string[];
  violations: Violation[];
}

/** The looks that axe-core has passed, of all pages before. */
export class Looks {
  readonly #passed = new Set<string>();

  /**
   * What is wrong with the colours of a page in which axe-core is loaded, and whether the themes
   * differ in more.
   */
  async faults(page: Page, themes = THEMES): Promise<{ still: boolean; violations: [Theme, Violation][] }> {
    const { still, looks } = await page.evaluate<{ still: boolean; looks: [Theme, string[]][] }>(LOOKS(themes));
    const violations: [Theme, Violation][] = [];
    for (const [theme, names] of looks) {
      const unknown = names.filter((look) => !this.#passed.has(look));
      if (unknown.length === 0) continue;
      const found = await page.evaluate<Judged | null>(JUDGED(theme, unknown));
      if (found === null) return this.faults(page, themes);
      for (const look of found.judged) this.#passed.add(look);
      violations.push(...found.violations.map((one): [Theme, Violation] => [theme, one]));
    }
    return { still, violations };
  }
}
