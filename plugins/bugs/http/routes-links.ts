import type { HttpRequest, RouteSpec } from '../../../kernel/contract/index.js';
import { invalid } from '../../../kernel/errors.js';
import { Reply } from '../../../ports/http/index.js';
import { getRequestCaller, type BugCaller } from '../caller.js';
import type { LinkRequest } from '../links/link-service.js';
import type { ItemDoc } from '../item/model.js';
import { BASE_PATH, getIdParam, MANAGE_SCOPE } from './paths.js';
import { idParam } from './schemas.js';
import * as schemas from './schemas-links.js';
import type { BugServices } from '../services.js';
import * as tools from './tools.js';

const LINKS_PATH = `${BASE_PATH}/bugs/{id}/links`;
const SHARED_ROUTE_FIELDS = {
  path: LINKS_PATH,
  access: { scope: MANAGE_SCOPE },
  output: schemas.linkedOutput,
} as const;
const LINK_ERRORS = ['claim_required', 'lease_lost', 'conflict'];

export function buildLinkRoutes({ links, parts }: BugServices): RouteSpec[] {
  const answerOf = async (item: ItemDoc, caller: BugCaller): Promise<object> => {
    const { ref, status, rev } = item;
    return { item: { ref, status, rev }, links: await parts.listLinks(item, caller) };
  };
  return [
    {
      ...SHARED_ROUTE_FIELDS,
      method: 'POST',
      operationId: 'linkItem',
      summary: 'Link an item to another item',
      tool: tools.link,
      description:
        'Both items show the link, each with its own `kind`. `action=next` does not assign an item while an unfinished item blocks ' +
        'it; a blocker that is resolved, closed, won’t fix or a duplicate blocks nothing. The items may belong to different ' +
        'projects. 201; 200 for an existing link. 409 `conflict` for blocks that would form a cycle, and for more ' +
        'than 50 links of an item. `claim_token` is optional and renews the lease of the blocked item, else of this one. `remove` works like DELETE, for clients without it.',
      input: { params: idParam, body: schemas.linkBody },
      status: [200, 201],
      errors: LINK_ERRORS,
      handle: async (request) => {
        const caller = getRequestCaller(request);
        const linkRequest = request.body as LinkRequest & { remove?: boolean };
        if (linkRequest.remove === true) {
          const item = await links.remove(getIdParam(request), request.principal, caller, linkRequest);
          return new Reply(200, await answerOf(item, caller));
        }
        const { item, created } = await links.add(getIdParam(request), request.principal, caller, linkRequest);
        return new Reply(created ? 201 : 200, await answerOf(item, caller));
      },
    },
    {
      ...SHARED_ROUTE_FIELDS,
      method: 'DELETE',
      operationId: 'unlinkItem',
      summary: 'Remove a link to another item',
      description:
        '`kind` and `ref` as shown in `links` of this item, in the body or the query. An item that is no longer blocked can be ' +
        'assigned immediately. 404 if the link does not exist.',
      input: { params: idParam, query: schemas.unlinkQuery, body: schemas.unlinkBody, optionalBody: true },
      errors: LINK_ERRORS,
      handle: async (request) => {
        const caller = getRequestCaller(request);
        const item = await links.remove(getIdParam(request), request.principal, caller, parseUnlinkRequest(request));
        return answerOf(item, caller);
      },
    },
  ];
}

/** @throws ServiceError validation_failed */
function parseUnlinkRequest({ query, body }: HttpRequest): LinkRequest {
  const { kind, ref, claim_token }: Partial<LinkRequest> = { ...query, ...(body as Partial<LinkRequest> | null) };
  if (kind === undefined) throw invalid({ kind: 'is required' });
  if (ref === undefined) throw invalid({ ref: 'is required' });
  return { kind, ref, claim_token };
}
