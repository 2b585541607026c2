/**
 * Every form of every page with what nobody should type: refused with an answer that is a page
 * under the same policy, never a fault of the server, never a script from outside; and every edit
 * form as it is filled in is accepted (contract 80).
 */
import { expect } from 'chai';
import { everyPage } from './every-page.js';
import { controlsOf, notBeside } from './beside.js';
import { PLANTED, PlantedService } from './planted.js';
import type { Form, Page } from './web-session.js';

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/** They end or change the session that this suite works with. */
const LEFT_OUT = new Set(['/logout', '/theme', '/login']);

interface FoundForm {
  from: string;
  action: string;
  /** Names of its text fields. */
  texts: string[];
  /** As a browser would send it. */
  filled: Form;
  /** It may hold a file. */
  multipart: boolean;
}

const decode = (text: string): string =>
  text
    .replaceAll(/&#x([0-9a-f]+);/gi, (_, hex: string) => String.fromCodePoint(parseInt(hex, 16)))
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

const attribute = (tag: string, name: string): string | undefined => {
  const found = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1];
  return found === undefined ? undefined : decode(found);
};

const FIELD = /<input\b[^>]*>|<textarea\b[^>]*>[\s\S]*?<\/textarea>|<select\b[^>]*>[\s\S]*?<\/select>/g;
/** The form that a field names, which may stand elsewhere on the page. */
const ownerOf = (field: string): string | undefined => attribute(/^<[^>]*>/.exec(field)?.[0] ?? '', 'form');

/**
 * The forms of a page that post; without a parser, because the pages are ours and every attribute
 * is quoted.
 */
function formsOf(from: string, html: string): FoundForm[] {
  const elsewhere = [...html.matchAll(FIELD)].map(([field]) => field).filter((field) => ownerOf(field) !== undefined);
  return [...html.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/g)].flatMap(([, head = '', between = '']) => {
    const id = attribute(head, 'id');
    const inside = [
      between.replaceAll(FIELD, (field) => (ownerOf(field) === undefined ? field : '')),
      ...elsewhere.filter((field) => ownerOf(field) === id),
    ].join('\n');
    const action = attribute(head, 'action')?.replace(/#.*/, '');
    if (attribute(head, 'method') !== 'post' || action === undefined || LEFT_OUT.has(action)) return [];
    const filled: Record<string, string | string[]> = {};
    const texts: string[] = [];
    const add = (name: string, value: string): void => {
      const known = filled[name];
      filled[name] = known === undefined ? value : [known, value].flat();
    };
    for (const [tag] of inside.matchAll(/<input\b[^>]*>/g)) {
      const [name, type = 'text'] = [attribute(tag, 'name'), attribute(tag, 'type')];
      if (name === undefined || name === 'csrf_token') continue;
      if (type === 'checkbox' || type === 'radio') {
        if (/\schecked\b/.test(tag)) add(name, attribute(tag, 'value') ?? 'on');
        continue;
      }
      add(name, attribute(tag, 'value') ?? '');
      if (type !== 'hidden') texts.push(name);
    }
    for (const [, tag = '', value = ''] of inside.matchAll(/<textarea\b([^>]*)>([\s\S]*?)<\/textarea>/g)) {
      const name = attribute(tag, 'name');
      if (name === undefined) continue;
      add(name, decode(value));
      texts.push(name);
    }
    for (const [, tag = '', options = ''] of inside.matchAll(/<select\b([^>]*)>([\s\S]*?)<\/select>/g)) {
      const name = attribute(tag, 'name');
      const all = [...options.matchAll(/<option\b[^>]*>/g)].map(([option]) => option);
      const chosen = all.find((option) => /\sselected\b/.test(option)) ?? all[0];
      if (name !== undefined && chosen !== undefined) add(name, attribute(chosen, 'value') ?? '');
    }
    return [{ from, action, texts, filled, multipart: attribute(head, 'enctype') === 'multipart/form-data' }];
  });
}

/** A form as a browser sends it where it may hold a file: the file stands last. */
function withFile(values: Form): FormData {
  const form = new FormData();
  const files = new Set(['package', 'logo']);
  for (const [name, value] of Object.entries(values))
    if (!files.has(name)) for (const one of [value].flat()) form.append(name, one);
  for (const name of files) if (name in values) form.append(name, new Blob(['no file of its kind']), 'some.bin');
  return form;
}

/** What a page says is wrong: below its fields and in its alert. */
const SAID =
  /<div class="invalid-feedback">(?:<svg[^]*?<\/svg>)?([^]*?)<\/div>|<div class="alert alert-danger"[^>]*>([^]*?)<\/div>/g;
/** Names of fields and codes, paths of JSON, and sentences of the library that judges values. */
const RAW =
  /\b[a-z]+_[a-z_]+\b|\b[a-z]+\[\d+\]|^&quot;|required pattern|is not allowed to be|\bregex\b|\bundefined\b|\bNaN\b/i;

/** Texts of the refusals on a page. */
const saidOn = (html: string): string[] =>
  [...html.matchAll(SAID)].map(([, field, alert]) =>
    (field ?? alert ?? '')
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  );
/** Those that are no words of a person. */
const rawWords = (html: string): string[] =>
  saidOn(html)
    .filter((text) => RAW.test(text))
    .map((text) => text.slice(0, 160));

describe('web: every form with valid and invalid input', () => {
  let planted: PlantedService;
  let forms: FoundForm[];
  /** Controls whose fault was looked for. */
  let checked = 0;

  before(async () => {
    planted = await PlantedService.started();
    const pages = (await everyPage()).filter(({ method }) => method === 'GET');
    const found = new Map<string, FoundForm>();
    for (const { path } of pages) {
      const address = planted.addressOf(path);
      if (!address) continue;
      const { text } = await planted.admin.get(address);
      for (const form of formsOf(address, text)) found.set(`${form.action} ${form.texts.join()}`, form);
    }
    forms = [...found.values()];
  });
  after(() => planted?.dispose());

  /** What is wrong with an answer, in words; none when it is refused or taken as it should be. */
  const faultsOf = ({ status, headers, text }: Page): string[] => [
    ...(status < 500 ? [] : [`status ${status}`]),
    ...(headers.get('content-security-policy') === POLICY ? [] : ['another policy']),
    ...(/<script>globalThis|onerror="globalThis/.test(text) ? ['a planted script'] : []),
    ...rawWords(text).map((said) => `says to a person “${said}”`),
  ];
  /**
   * What every form sends along: with path and content it names a form, so one page's does for a
   * round of them all.
   */
  const tokenOfRound = (): Promise<Form> => planted.admin.tokenOf('/account');
  const sent = (form: FoundForm, value: string, token: Form): Promise<Page> => {
    const texts = Object.fromEntries(form.texts.map((name) => [name, value]));
    return planted.admin.send(form.action, { ...form.filled, ...texts, ...token });
  };

  /**
   * The same once more as a script sends it, which is told the fields: each has its fault beside
   * its control.
   */
  const besideOf = async (form: FoundForm, values: Form, token: Form): Promise<string[]> => {
    const body: Form | FormData = form.multipart ? withFile({ ...token, ...values }) : { ...token, ...values };
    const { status, text } = await planted.admin.sendForm(form.action, body);
    if (status !== 409 && status !== 422) return [];
    const fields = await planted.admin.faultsOf(form.action, body);
    checked += controlsOf(text, form.action, values).filter(({ name }) => fields !== null && name in fields).length;
    return fields === null ? [] : notBeside(text, { action: form.action, sent: values }, fields);
  };

  it('distinguishes internal names from user-readable text', () => {
    const below = (text: string): string => `<div class="invalid-feedback"><svg></svg> ${text}</div>`;
    const raw = ['Field expires_at is wrong.', 'Roles[0] must be a text.', '&quot;name&quot; is required', 'NaN days'];
    expect(rawWords(raw.map(below).join(''))).to.have.length(4);
    expect(rawWords(below('Reason is required.') + below('Valid until must be a date.'))).to.deep.equal([]);
  });

  it('finds the forms on every page', () => {
    expect(forms.filter(({ texts }) => texts.length > 0).length).to.be.greaterThan(20);
  });

  it('assigns a field to the form in its form attribute', () => {
    const html = '<form id="a" method="post" action="/a"><input name="one"><input name="two" form="b"></form>';
    const found = formsOf(
      '/',
      `${html}<form id="b" method="post" action="/b"></form><select name="s" form="b"><option value="1"></select>`,
    );
    expect(found.map(({ action, filled }) => [action, filled])).to.deep.equal([
      ['/a', { one: '' }],
      ['/b', { two: '', s: '1' }],
    ]);
  });

  it('accepts the prefilled values of every edit form', async () => {
    const edits = forms.filter(({ action }) => action.endsWith('/edit'));
    expect(edits.length).to.be.greaterThan(4);
    for (const form of edits) {
      const answer = await planted.admin.post(form.action, form.filled, form.from);
      expect(answer.status, `${form.action} ${/alert[^]*?<p>([^<]*)/.exec(answer.text)?.[1]}`).to.equal(303);
    }
  });

  it('detects an error that is not next to its control', () => {
    const a = { action: '/a', sent: {} };
    const html = (control: string): string => `<form action="/a"><input name="b" ${control}></form>`;
    const below = '<div id="h"><div class="invalid-feedback">No.</div></div>';
    expect(notBeside(html('') + below, a, { b: 'No.' })).to.deep.equal(['b: its fault is not below it']);
    const right = html('aria-invalid="true" aria-describedby="h"') + below;
    expect(notBeside(right, a, { b: 'No.', elsewhere: 'No.' })).to.deep.equal([]);
    expect(notBeside(`<details>${right}</details>`, a, { b: 'No.' })).to.deep.equal([
      'b: its fault is seen 0 times, and folded 1',
    ]);
  });

  for (const [what, value] of [
    ['a word', 'Tuesday-ish'],
    ['8 KB', PLANTED],
    ['nothing', ''],
  ] as const)
    it(`shows the error of each text field below it, with ${what}`, async () => {
      const faults = new Set<string>();
      checked = 0;
      const token = await tokenOfRound();
      for (const form of forms) {
        for (const name of form.texts)
          for (const fault of await besideOf(form, { ...form.filled, [name]: value }, token))
            faults.add(`${form.from} → ${form.action}: ${fault}`);
      }
      expect([...faults]).to.deep.equal([]);
      expect(checked, 'faults that have a control').to.be.greaterThan(20);
    });

  for (const [what, value] of [
    ['8 KB of letters and a script', PLANTED],
    ['control characters', 'a\u0000b\u0007c\u202ed'],
    ['nothing', ''],
    ['a word where a number, a date or an address belongs', 'Tuesday-ish'],
    ['a number below everything', '-1'],
    ['half a surrogate and a formula', '\ud800=cmd|calc'],
  ] as const)
    it(`rejects or accepts every text field with ${what}`, async () => {
      const faults: string[] = [];
      let refusals = 0;
      const token = await tokenOfRound();
      for (const form of forms) {
        if (form.texts.length === 0) continue;
        const answer = await sent(form, value, token);
        refusals += saidOn(answer.text).length;
        for (const fault of faultsOf(answer)) faults.push(`${form.from} → ${form.action}: ${fault}`);
      }
      expect(faults).to.deep.equal([]);
      expect(refusals, 'refusals that were read').to.be.greaterThan(5);
    });
});
