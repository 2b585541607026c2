/** Only a signed-in user's text, without its quotes, is trusted (contract 95, MCP). */
import { UserText } from '../../../ports/tools.js';
import { splitQuotes } from '../text/comment-quotes.js';

type JsonObject = Readonly<Record<string, unknown>>;

/** Omits the id, which an agent does not need. */
function formatComment({ id: _id, ...comment }: JsonObject): JsonObject {
  const { body, author_kind: kind } = comment;
  if (kind !== 'person' || typeof body !== 'string') return comment;
  return { ...comment, body: new UserText(splitQuotes(body)), untrusted_fields: [] };
}

export const formatComments = (list: unknown): unknown =>
  Array.isArray(list)
    ? list.map((one) => (typeof one === 'object' && one !== null ? formatComment(one as JsonObject) : one))
    : list;
