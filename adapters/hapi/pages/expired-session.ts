/**
 * Response to a form whose session has expired: 401 with the login form, which retains what the
 * user typed (contract 80, conduct).
 */
import { encodeSavedForm, listMultiWordFields } from '../../../lib/saved-form.js';
import type { View } from '../../../ports/http/index.js';
import { UNAUTHORIZED } from '../access/access-policy.js';
import { ForeignView } from './form-idempotency.js';

export function buildExpiredSessionView(
  { path, fields }: { path: string; fields: Readonly<Record<string, string | string[]>> },
  sign: (text: string) => string,
): View | null {
  const controls = Object.entries(fields).flatMap(([name, values]) =>
    [values].flat().map((value) => [name, value] as const),
  );
  const savedForm = encodeSavedForm({ path, fields: controls }, sign);
  if (savedForm === null) return null;
  const view = new ForeignView('', 'ended', {
    title: 'Session ended',
    kept: savedForm,
    fields: listMultiWordFields(controls),
  }).withStatus(401);
  for (const [name, value] of Object.entries(UNAUTHORIZED.more.headers ?? {})) view.header(name, value);
  return view;
}
