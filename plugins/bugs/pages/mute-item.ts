import joi from 'joi';
import { fromForm, getTimeZone, Redirect, type HttpRequest, type PageSpec } from '../../../kernel/contract/index.js';
import { toLocalPath } from '../../../lib/http/local-path.js';
import { MUTE_FORM } from '../../../ports/domain/bugs.js';
import { DAY_MS, toIsoString } from '../../../lib/time.js';
import { toBugCaller } from '../caller.js';
import { toItemView } from '../item/api-views.js';
import { getFormFields } from './shared/form.js';
import { getRef, refParamsSchema, type PageDeps } from './shared/page-deps.js';

const muteFormSchema = joi.object({
  like: joi.string().max(100).required(),
  expires: joi
    .string()
    .valid(...MUTE_FORM.spans.map(({ value }) => value))
    .required(),
  reason: joi.string().trim().max(500).empty('').default(null),
});

const formatDay = (iso: string, timeZone: string): string =>
  new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone }).format(new Date(iso));

/** Returns to the list or issue that the form was on. */
const redirectBack = (back: string | undefined, ref: string, flash: Redirect['flash']): Redirect =>
  Redirect.toUntrusted(toLocalPath(back) ?? `/bugs/${ref}`, flash);

/** Mutes and unmutes one issue, from its page or a row of a list. */
export function buildMutePages({ services: { muting, secrets }, deps: { clock }, timezone }: PageDeps): PageSpec[] {
  const shared = { method: 'POST', title: 'Issues', access: { session: 'member' } } as const;
  const mute = async (request: HttpRequest): Promise<Redirect> => {
    const { like, expires, reason, back } = getFormFields(request);
    const form = fromForm(muteFormSchema, { like, expires, reason: reason ?? '' }) as {
      like: string;
      expires: string;
      reason: string | null;
    };
    await secrets.rejectSecrets({ reason: form.reason ?? '' });
    const until = toIsoString(clock.now() + Number(form.expires) * DAY_MS);
    const caller = toBugCaller(request.principal);
    const doc = await muting.muteUntil(form.like, caller, { until, reason: form.reason });
    const { ref } = toItemView(doc, null, clock.now());
    const undo = new URLSearchParams({ back: toLocalPath(back) ?? `/bugs/${ref}` });
    return redirectBack(back, ref, {
      tone: 'success',
      message: `Muted until ${formatDay(until, getTimeZone(request.principal, timezone()))}`,
      action: { label: 'Undo', post: `/bugs/${ref}/unmute?${undo.toString()}` },
    });
  };
  return [
    { ...shared, path: '/bugs/mute', handle: mute },
    {
      ...shared,
      path: '/bugs/{ref}/unmute',
      input: { params: refParamsSchema, query: joi.object({ back: joi.string().max(8000).empty('') }) },
      handle: async (request) => {
        const { ref } = await muting.unmuteItem(getRef(request), toBugCaller(request.principal));
        const { back } = request.query as { back?: string };
        return redirectBack(back, ref, { tone: 'success', message: 'Issue unmuted' });
      },
    },
  ];
}
