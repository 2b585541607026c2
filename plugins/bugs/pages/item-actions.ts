import joi from 'joi';
import { Redirect, type HttpRequest, type PageSpec } from '../../../kernel/contract/index.js';
import { invalid } from '../../../kernel/errors.js';
import type { Json } from '../../../ports/store/index.js';
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
import { isFinishingChange, undoLastChange, findUndoableChange } from '../editing/undo.js';

const pickNonEmpty = (fields: Record<string, string>, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.flatMap((name) => (fields[name]?.trim() ? [[name, fields[name].trim()]] : [])));

const buildItemUrl = (path: string, context = ''): string =>
  `/bugs/${path.split('/').map(encodeURIComponent).join('/')}${toContextSuffix(context)}`;
const toLinkRequest = (request: HttpRequest): LinkRequest => {
  const { kind = '', ref = '' } = getFormFields(request);
  return validateForm(linkBody, { kind, ref: ref.trim().toLowerCase() }) as unknown as LinkRequest;
};
/** The list that the item was opened from. */
const listQuerySchema = joi.object({ list: joi.string().max(8000).empty('') });

const STATUS_MESSAGES: Record<string, string> = {
  open: 'Issue reopened',
  needs_info: 'Issue marked as needs info',
  wont_fix: 'Issue marked as won’t fix',
  duplicate: 'Issue marked as duplicate',
};
const formatStatusMessage = (status: string): string =>
  STATUS_MESSAGES[status] ?? `Issue ${status.replaceAll('_', ' ')}`;

interface FormOutcome {
  message: string;
  /** Whether the change of status can be undone. */
  undoable?: boolean;
  anchor?: string;
  ref?: string;
}

export function buildItemActionPages(page: PageDeps): PageSpec[] {
  const { edits, comments, links, merging, lists } = page.services;
  const { clock } = page.deps;

  const post = (name: string, run: (request: HttpRequest) => Promise<FormOutcome>): PageSpec => ({
    method: 'POST',
    path: `/bugs/{ref}/${name}`,
    title: 'Issues',
    access: { session: 'member' },
    creates: name === 'comments',
    input: { params: refParamsSchema, query: listQuerySchema },
    handle: (request) =>
      runOrShowAgain(
        name,
        request,
        async () => {
          const { message, undoable, anchor = '', ref = getRef(request) } = await run(request);
          const context = getListContext(request);
          const action = { label: 'Undo', post: buildItemUrl(`${ref}/undo`, context) };
          return new Redirect(`${buildItemUrl(ref, context)}${anchor}`, {
            tone: 'success',
            message,
            ...(undoable === true && { action }),
          });
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
      return { message: 'Comment added', anchor: '#comments' };
    }),
    post('status', async (request) => {
      const fields = pickNonEmpty(getFormFields(request), ['status', 'reason', 'duplicate_of', 'resolved_in_build']);
      if (fields['status'] === undefined) throw invalid({ status: 'is required' });
      await edit(request, fields);
      return { message: formatStatusMessage(fields['status']), undoable: isFinishingChange(fields) };
    }),
    post('severity', async (request) => {
      const typed = getFormFields(request);
      const fields = pickNonEmpty(typed, ['severity', 'reason']);
      if (fields['severity'] === undefined) throw invalid({ severity: 'is required' });
      const severity_locked = typed['severity_locked'] === 'true';
      await edit(request, { ...fields, severity_locked });
      return { message: `Severity set to ${fields['severity']}${severity_locked ? ' and locked' : ''}` };
    }),
    post('labels', async (request) => {
      const typed = getFormFields(request);
      await edit(request, {
        ...(typed['tags'] !== undefined && { tags: parseTags(typed['tags']) }),
        ...(typed['target_agent'] !== undefined && { target_agent: typed['target_agent'].trim() || null }),
        ...pickNonEmpty(typed, ['reason']),
      });
      return { message: typed['tags'] === undefined ? 'Agent saved' : 'Tags saved' };
    }),
    post('hold', async (request) => {
      const typed = getFormFields(request);
      const hold = typed['hold'] === 'true';
      const change = { hold, ...pickNonEmpty(typed, ['reason']) };
      await edits.edit(getRef(request), toBugCaller(request.principal), validateForm(editBody, change) as ItemEdit);
      return { message: hold ? 'Agents paused' : 'Agents resumed' };
    }),
    post('review', async (request) => {
      const fields = pickNonEmpty(getFormFields(request), ['pr_state', 'fix_commit']);
      if (fields['pr_state'] === undefined) throw invalid({ pr_state: 'is required' });
      await edits.edit(getRef(request), toBugCaller(request.principal), validateForm(editBody, fields) as ItemEdit);
      return { message: `Pull request marked as ${fields['pr_state']}` };
    }),
    post('undo', async (request) => {
      const caller = toBugCaller(request.principal);
      const { item, activity } = await lists.getDetail(getRef(request), caller);
      const last = findUndoableChange(item, activity as HistoryEntry[], caller.name, clock.now());
      const { status } = await undoLastChange(edits, item, last, caller);
      return { message: `Undone: issue is ${status.replaceAll('_', ' ')} again` };
    }),
    post('assignee', async (request) => {
      const { take, assignee = '' } = getFormFields(request);
      const caller = toBugCaller(request.principal);
      const name = take === undefined ? assignee.trim() || null : take === 'true' ? caller.name : null;
      const given = await edits.assign(getRef(request), caller, name);
      if (given.assignee === null) return { message: 'Issue unassigned' };
      return {
        message: given.assignee === caller.name ? 'Issue assigned to you' : `Issue assigned to ${given.assignee}`,
      };
    }),
    post('links', async (request) => {
      const linkRequest = toLinkRequest(request);
      await links.add(getRef(request), request.principal, toBugCaller(request.principal), linkRequest);
      return { message: `Linked to ${linkRequest.ref}`, anchor: '#links' };
    }),
    post('unlink', async (request) => {
      const linkRequest = toLinkRequest(request);
      await links.remove(getRef(request), request.principal, toBugCaller(request.principal), linkRequest);
      return { message: `Link to ${linkRequest.ref} removed`, anchor: '#links' };
    }),
    post('merge', async (request) => {
      const typed = getFormFields(request);
      const into = typed['into']?.trim() ?? '';
      if (into === '') throw invalid({ into: 'Choose an issue' });
      const options = { force: typed['force'] === 'true', ...pickNonEmpty(typed, ['reason']) };
      await merging.merge(getRef(request), into, toBugCaller(request.principal), options);
      return { message: 'Issues merged' };
    }),
    post('split', async (request) => {
      const { back = '' } = getFormFields(request);
      const { ref } = await merging.split(getRef(request), toBugCaller(request.principal));
      const message = `${ref} split off and reopened`;
      return /^[a-z0-9][a-z0-9._-]{0,99}$/.test(back) ? { message, ref: back } : { message };
    }),
  ];
}
