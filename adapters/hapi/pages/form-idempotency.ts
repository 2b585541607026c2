/**
 * `form_id`, path and content identify a form, so that a reload or a double click is recognized,
 * but the same form filled in again is not (contract 80, conduct).
 */
import { createHash } from 'node:crypto';
import joi from 'joi';
import {
  Redirect,
  View,
  type FormResultStore,
  type MountedPage,
  type PageResult,
  type SessionPrincipal,
} from '../../../ports/http/index.js';
import { Failure } from '../wire/failure.js';

const FORM_IN_PROGRESS = new Failure('conflict', 'Already submitted and still in progress. Check the list first.');
const REPEATED_FORM_FLASH = {
  tone: 'info',
  message: 'Already submitted. Nothing was done twice.',
} as const;
const FORM_ID_PATTERN = /^[\w-]{8,64}$/;
const SHOWN_PATH = '/shown';

export class ForeignView extends View {
  constructor(
    readonly plugin: string,
    template: string,
    context: Record<string, unknown>,
  ) {
    super(template, context);
  }
}

interface StoredView {
  plugin: string;
  template: string;
  context: Record<string, unknown>;
}

export async function runIdempotentForm(
  forms: FormResultStore,
  session: SessionPrincipal,
  { path, formId, fields }: { path: string; formId: unknown; fields: object },
  run: () => Promise<PageResult>,
): Promise<PageResult | Failure> {
  if (typeof formId !== 'string' || !FORM_ID_PATTERN.test(formId)) return run();
  const content = createHash('sha256').update(JSON.stringify(fields)).digest('hex');
  const done = await forms.runOnce(session, `${formId} ${path} ${content}`, async () => {
    const answer = await run();
    return { answer, location: answer instanceof Redirect ? answer.location : null };
  });
  if ('answer' in done) return done.answer;
  return done.sentBefore === null ? FORM_IN_PROGRESS : new Redirect(done.sentBefore, REPEATED_FORM_FLASH);
}

export async function redirectToStoredView(
  forms: FormResultStore,
  session: SessionPrincipal,
  { plugin, title }: { plugin: string; title: string },
  result: PageResult,
): Promise<PageResult> {
  if (!(result instanceof View) || result.onceThen === null) return result;
  const { template, context, onceThen, cookies } = result;
  const storedView: StoredView = { plugin, template, context: { title, ...context } };
  const id = await forms.saveText(session, JSON.stringify(storedView));
  const to = new Redirect(`${SHOWN_PATH}/${id}?back=${encodeURIComponent(onceThen.href)}`);
  for (const cookie of cookies) to.cookie(cookie);
  return to;
}

export const createShownPage = (forms: FormResultStore): MountedPage => ({
  plugin: 'hapi',
  views: '',
  ready: () => true,
  spec: {
    path: `${SHOWN_PATH}/{id}`,
    title: 'Shown once',
    access: { session: 'member' },
    input: {
      params: joi.object({ id: joi.string().hex().length(32).required() }),
      query: joi.object({ back: joi.string().max(1_000) }),
    },
    handle: async ({ principal, params, query }) => {
      const text = principal.kind === 'session' ? await forms.takeText(principal, params['id'] ?? '') : null;
      if (text === null) return new ForeignView('', 'shown', { back: toLocalPath(query['back']) }).withStatus(410);
      const { plugin, template, context } = JSON.parse(text) as StoredView;
      return new ForeignView(plugin, template, context);
    },
  },
});

const toLocalPath = (given: unknown): string =>
  typeof given === 'string' && /^\/(?![/\\])[^\s\\\p{Cc}]*$/u.test(given) ? given : '/';
