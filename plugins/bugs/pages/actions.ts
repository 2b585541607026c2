/** What a person does to an item: comment, change its status, its severity. The services decide, as for agents. */
import joi from 'joi';
import { Redirect, type HttpRequest, type PageSpec } from '../../../kernel/contract.js';
import { invalid } from '../../../kernel/errors.js';
import type { Json } from '../../../ports/store.js';
import { callerOf } from '../caller.js';
import { cleanJson } from '../clean.js';
import type { Edit } from '../edits.js';
import { commentBody, editBody } from '../schemas.js';
import { orAgain, typedFields } from './form.js';
import { itemView, refOf, type PageDeps } from './item.js';

export const params = joi.object({ ref: joi.string().max(100).required() });

/** @throws ServiceError validation_failed with the fields */
function checked(schema: joi.ObjectSchema, given: object): Json {
  const { value, error } = schema.validate(given, { abortEarly: false, stripUnknown: true, errors: { label: false } });
  if (error) throw invalid(Object.fromEntries(error.details.map((detail) => [detail.path.join('.'), detail.message])));
  return cleanJson(value as Json);
}

/** Empty fields say nothing. */
const set = (fields: Record<string, string>, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.flatMap((name) => (fields[name]?.trim() ? [[name, fields[name].trim()]] : [])));

export function actionPages(page: PageDeps): PageSpec[] {
  const { edits, discussion } = page.services;

  const post = (name: string, anchor: string, run: (request: HttpRequest) => Promise<string>): PageSpec => ({
    method: 'POST',
    path: `/bugs/{ref}/${name}`,
    title: 'Bugs',
    access: { session: 'member' },
    input: { params },
    handle: (request) =>
      orAgain(
        name,
        request,
        async () => {
          const message = await run(request);
          return new Redirect(`/bugs/${encodeURIComponent(refOf(request))}${anchor}`, { tone: 'success', message });
        },
        (problem) => itemView(page, request, problem),
      ),
  });

  const edit = (request: HttpRequest, fields: object): Promise<unknown> =>
    edits.edit(refOf(request), callerOf(request.principal), checked(editBody, fields) as Edit);

  return [
    post('comments', '#comments', async (request) => {
      const { body = '' } = typedFields(request);
      // A browser sends line ends as CRLF.
      const comment = checked(commentBody, { body: body.replace(/\r\n?/g, '\n') }) as { body: string };
      await discussion.comment(refOf(request), callerOf(request.principal), comment.body);
      return 'Comment added.';
    }),
    post('status', '', async (request) => {
      const typed = typedFields(request);
      const fields = set(typed, ['status', 'reason', 'duplicate_of', 'resolved_in_build']);
      if (fields['status'] === undefined) throw invalid({ status: 'is required' });
      await edit(request, { ...fields, force: typed['force'] === 'true' });
      const says: Record<string, string> = { wont_fix: 'won’t fix' };
      return `The item is now ${says[fields['status']] ?? fields['status'].replaceAll('_', ' ')}.`;
    }),
    post('severity', '', async (request) => {
      const typed = typedFields(request);
      const fields = set(typed, ['severity', 'reason']);
      if (fields['severity'] === undefined) throw invalid({ severity: 'is required' });
      const severity_locked = typed['severity_locked'] === 'true';
      await edit(request, { ...fields, severity_locked, force: typed['force'] === 'true' });
      return `Severity is ${fields['severity']}${severity_locked ? ' and stays so' : ''}.`;
    }),
  ];
}
