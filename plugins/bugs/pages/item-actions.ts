import joi from 'joi';
import { Redirect, type HttpRequest, type PageSpec } from '../../../kernel/contract.js';
import { invalid } from '../../../kernel/errors.js';
import type { Json } from '../../../ports/store.js';
import { toBugCaller } from '../caller.js';
import type { LinkRequest } from '../links/link-service.js';
import type { ItemEdit } from '../item/edit.js';
import { commentBody, editBody } from '../http/schemas.js';
import { linkBody } from '../http/schemas-links.js';
import { parseTags } from './bulk/bulk-actions.js';
import { validateForm, runOrShowAgain, getFormFields } from './shared/form.js';
import type { HistoryEntry } from './item/history-lines.js';
import { getListContext, toContextSuffix } from './shared/list-context.js';
import { buildItemView } from './item/item-view.js';
import { refParamsSchema, getRef, type PageDeps } from './shared/page-deps.js';
import { undoLastChange, findUndoableChange } from '../editing/undo.js';

const pickNonEmpty = (fields: Record<string, string>, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.flatMap((name) => (fields[name]?.trim() ? [[name, fields[name].trim()]] : [])));

const buildItemUrl = (ref: string, context = ''): string =>
  `/bugs/${encodeURIComponent(ref)}${toContextSuffix(context)}`;
const toLinkRequest = (request: HttpRequest): LinkRequest => {
  const { kind = '', ref = '' } = getFormFields(request);
  return validateForm(linkBody, { kind, ref: ref.trim().toLowerCase() }) as unknown as LinkRequest;
};
/** The URL carries the list from which the item was opened. */
const listQuerySchema = joi.object({ list: joi.string().max(8000).empty('') });

interface FormOutcome {
  message: string;
  anchor?: string;
  ref?: string;
}

export function buildItemActionPages(page: PageDeps): PageSpec[] {
  const { edits, comments, links, merging, lists } = page.services;
  const { clock } = page.deps;

  const post = (name: string, run: (request: HttpRequest) => Promise<FormOutcome>): PageSpec => ({
    method: 'POST',
    path: `/bugs/{ref}/${name}`,
    title: 'Bugs',
    access: { session: 'member' },
    creates: name === 'comments',
    input: { params: refParamsSchema, query: listQuerySchema },
    handle: (request) =>
      runOrShowAgain(
        name,
        request,
        async () => {
          const { message, anchor = '', ref = getRef(request) } = await run(request);
          return new Redirect(`${buildItemUrl(ref, getListContext(request))}${anchor}`, { tone: 'success', message });
        },
        (problem) => buildItemView(page, request, problem),
      ),
  });

  const edit = (request: HttpRequest, fields: Record<string, Json>): Promise<unknown> => {
    const force = getFormFields(request)['force'] === 'true';
    return edits.edit(
      getRef(request),
      toBugCaller(request.principal),
      validateForm(editBody, { ...fields, force }) as ItemEdit,
    );
  };

  return [
    post('comments', async (request) => {
      const { body = '' } = getFormFields(request);
      // Browsers send line ends as CRLF.
      const comment = validateForm(commentBody, { body: body.replace(/\r\n?/g, '\n') }) as { body: string };
      await comments.add(getRef(request), toBugCaller(request.principal), { body: comment.body });
      return { message: 'Comment added.', anchor: '#comments' };
    }),
    post('status', async (request) => {
      const fields = pickNonEmpty(getFormFields(request), ['status', 'reason', 'duplicate_of', 'resolved_in_build']);
      if (fields['status'] === undefined) throw invalid({ status: 'is required' });
      await edit(request, fields);
      const says: Record<string, string> = { wont_fix: 'won’t fix', duplicate: 'a duplicate' };
      return { message: `The item is now ${says[fields['status']] ?? fields['status'].replaceAll('_', ' ')}.` };
    }),
    post('severity', async (request) => {
      const typed = getFormFields(request);
      const fields = pickNonEmpty(typed, ['severity', 'reason']);
      if (fields['severity'] === undefined) throw invalid({ severity: 'is required' });
      const severity_locked = typed['severity_locked'] === 'true';
      await edit(request, { ...fields, severity_locked });
      return { message: `Severity is ${fields['severity']}${severity_locked ? ' and stays so' : ''}.` };
    }),
    post('labels', async (request) => {
      const typed = getFormFields(request);
      const target_agent = typed['target_agent']?.trim() || null;
      await edit(request, { tags: parseTags(typed['tags'] ?? ''), target_agent, ...pickNonEmpty(typed, ['reason']) });
      return { message: 'Tags and agent are saved.', anchor: '#labels' };
    }),
    post('hold', async (request) => {
      const typed = getFormFields(request);
      const hold = typed['hold'] === 'true';
      const change = { hold, ...pickNonEmpty(typed, ['reason']) };
      await edits.edit(getRef(request), toBugCaller(request.principal), validateForm(editBody, change) as ItemEdit);
      return { message: hold ? 'The item is on hold: no agent gets it.' : 'Agents may have the item again.' };
    }),
    post('review', async (request) => {
      const fields = pickNonEmpty(getFormFields(request), ['pr_state', 'fix_commit']);
      if (fields['pr_state'] === undefined) throw invalid({ pr_state: 'is required' });
      await edits.edit(getRef(request), toBugCaller(request.principal), validateForm(editBody, fields) as ItemEdit);
      return { message: `The pull request is ${fields['pr_state']}.` };
    }),
    post('undo', async (request) => {
      const caller = toBugCaller(request.principal);
      const { item, activity } = await lists.getDetail(getRef(request), caller);
      const last = findUndoableChange(item, activity as HistoryEntry[], caller.name, clock.now());
      const { status } = await undoLastChange(edits, item, last, caller);
      return { message: `Undone: the item is ${status.replaceAll('_', ' ')} again.` };
    }),
    post('assignee', async (request) => {
      const { take, assignee = '' } = getFormFields(request);
      const caller = toBugCaller(request.principal);
      const name = take === undefined ? assignee.trim() || null : take === 'true' ? caller.name : null;
      const given = await edits.assign(getRef(request), caller, name);
      if (given.assignee === null) return { message: 'Nobody has the item now.' };
      return { message: given.assignee === caller.name ? 'The item is yours.' : `${given.assignee} has the item now.` };
    }),
    post('links', async (request) => {
      const asked = toLinkRequest(request);
      await links.add(getRef(request), request.principal, toBugCaller(request.principal), asked);
      return { message: `Linked to ${asked.ref}.`, anchor: '#links' };
    }),
    post('unlink', async (request) => {
      const asked = toLinkRequest(request);
      await links.remove(getRef(request), request.principal, toBugCaller(request.principal), asked);
      return { message: `No longer linked to ${asked.ref}.`, anchor: '#links' };
    }),
    post('merge', async (request) => {
      const typed = getFormFields(request);
      const into = typed['into']?.trim() ?? '';
      if (into === '') throw invalid({ into: 'choose the item that counts from now on' });
      const options = { force: typed['force'] === 'true', ...pickNonEmpty(typed, ['reason']) };
      await merging.merge(getRef(request), into, toBugCaller(request.principal), options);
      return { message: 'Merged: further occurrences are counted at the other item.' };
    }),
    post('split', async (request) => {
      const { back = '' } = getFormFields(request);
      const { ref } = await merging.split(getRef(request), toBugCaller(request.principal));
      const message = `${ref} is an item of its own again, and open.`;
      return /^[a-z0-9][a-z0-9._-]{0,99}$/.test(back) ? { message, ref: back } : { message };
    }),
  ];
}
