/**
 * Formats comments for agents (contract 95, MCP). Only text of a signed-in user, without its
 * quotes, is trusted.
 */
import { UserText } from '../../../ports/tools.js';
import { splitQuotes } from '../text/quotes.js';

type Data = Readonly<Record<string, unknown>>;

/** Omits the id, which an agent does not need. History entries are otherwise unchanged. */
function showComment({ id: _id, ...comment }: Data): Data {
  const { body, author_kind: kind } = comment;
  if (kind !== 'person' || typeof body !== 'string') return comment;
  return { ...comment, body: new UserText(splitQuotes(body)), untrusted_fields: [] };
}

export const showComments = (list: unknown): unknown =>
  Array.isArray(list)
    ? list.map((one) => (typeof one === 'object' && one !== null ? showComment(one as Data) : one))
    : list;
