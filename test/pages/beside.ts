/**
 * Whether the faults of a refused form stand beside its controls: below the control that is wrong,
 * named by it for those who listen, and in no part that is folded (contract 80, conduct). Without a
 * parser, because the pages are ours and every attribute is quoted.
 */
import type { Form } from './web-session.js';

const CONTROL = /<(input|select|textarea)\b([^>]*)>/g;

const attribute = (tag: string, name: string): string | undefined =>
  new RegExp(`(?:^|\\s)${name}="([^"]*)"`).exec(tag)?.[1]?.replaceAll('&#x3D;', '=').replaceAll('&amp;', '&');

interface Control {
  name: string;
  tag: string;
  at: number;
}

/**
 * What of `html` begins before `at` and has not ended there: the attributes of each, outermost
 * first.
 */
function around(html: string, element: string, at: number): string[] {
  const open: string[] = [];
  for (const [, end, attributes = ''] of html.slice(0, at).matchAll(new RegExp(`<(/?)${element}\\b([^>]*)>`, 'g'))) {
    if (end === '/') open.pop();
    else open.push(attributes);
  }
  return open;
}

/** What a form sends along that nobody sees. */
const hiddenOf = (form: string): [string, string][] =>
  [...form.matchAll(CONTROL)].flatMap(([, , tag = '']): [string, string][] => {
    const name = attribute(tag, 'name');
    const own = name === undefined || attribute(tag, 'type') !== 'hidden' || /^(csrf_token|form_id)$/.test(name);
    return own ? [] : [[name, attribute(tag, 'value') ?? '']];
  });

/**
 * Controls that a person sees, of the form that was sent.
 * @param sent of several forms with one address it is the one that sends these along
 */
export function controlsOf(html: string, action: string, sent: Form): Control[] {
  const isOurs = (form: string | undefined): boolean =>
    form !== undefined && attribute(form, 'action')?.replace(/[?#].*/, '') === action.replace(/[?#].*/, '');
  const forms = [...html.matchAll(/<form\b([^>]*)>/g)].map(([, form = '']) => form);
  return [...html.matchAll(CONTROL)].flatMap(([, element, tag = ''], n, all) => {
    const at = all[n]?.index ?? 0;
    const name = attribute(tag, 'name');
    if (name === undefined || (element === 'input' && attribute(tag, 'type') === 'hidden')) return [];
    const named = attribute(tag, 'form');
    const form =
      named === undefined ? around(html, 'form', at).at(-1) : forms.find((one) => attribute(one, 'id') === named);
    const begin = html.lastIndexOf('<form', at);
    const same = hiddenOf(html.slice(begin, html.indexOf('</form>', begin))).every(
      ([key, value]) => sent[key] === value,
    );
    return isOurs(form) && (named !== undefined || same) ? [{ name, tag, at }] : [];
  });
}

const isInvalid = (tag: string): boolean => attribute(tag, 'aria-invalid') === 'true';

/** Whether one of the elements that a control names as its description holds a fault. */
function saysFault(html: string, tag: string): boolean {
  const ids = attribute(tag, 'aria-describedby')?.split(' ') ?? [];
  return ids.some((id) => {
    const element = new RegExp(`<\\w+\\b[^>]*\\sid="${id.replaceAll(/[^\w-]/g, '.')}"[^>]*>[^]*?</div>`).exec(
      html,
    )?.[0];
    return element?.includes('invalid-feedback') === true;
  });
}

/**
 * What is wrong with how a page shows a refusal, in words.
 * @param fields the refusal's, as scripts are told it
 */
export function notBeside(
  html: string,
  { action, sent }: { action: string; sent: Form },
  fields: Readonly<Record<string, string>>,
): string[] {
  const controls = controlsOf(html, action, sent);
  const faults = Object.keys(fields).flatMap((name) => {
    const these = controls.filter((control) => control.name === name);
    if (these.length === 0) return [];
    const invalid = these.filter(({ tag }) => isInvalid(tag) && saysFault(html, tag));
    const grouped = these.filter(({ at }) => around(html, 'fieldset', at).some((group) => saysFault(html, group)));
    // A group has one fault, whichever of its controls is looked at.
    const shown = invalid.length > 0 ? invalid : grouped.slice(0, 1);
    if (shown.length === 0) return [`${name}: its fault is not below it`];
    const seen = shown.filter(({ at }) => around(html, 'details', at).every((details) => /\sopen\b/.test(details)));
    return seen.length === 1
      ? []
      : [`${name}: its fault is seen ${seen.length} times, and folded ${shown.length - seen.length}`];
  });
  const elsewhere =
    [...html.matchAll(/aria-invalid="true"/g)].length - controls.filter(({ tag }) => isInvalid(tag)).length;
  return elsewhere === 0 ? faults : [...faults, `${elsewhere} controls of other forms are marked`];
}
