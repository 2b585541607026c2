/**
 * Comments as an agent reads them (contract 95, MCP). What a signed-in user wrote is the user's word; what it quotes,
 * and what everyone else wrote, is text from outside. Pure.
 */
import { UserText } from '../../../ports/tools.js';
import { splitQuotes } from '../text/quotes.js';

type Data = Readonly<Record<string, unknown>>;

/** A comment, or an entry of the history as it is; the id is of no use to an agent. */
function showComment({ id: _id, ...comment }: Data): Data {
  const { body, author_kind: kind } = comment;
  if (kind !== 'person' || typeof body !== 'string') return comment;
  return { ...comment, body: new UserText(splitQuotes(body)), untrusted_fields: [] };
}

/** A list of comments or of news. */
export const showComments = (list: unknown): unknown =>
  Array.isArray(list)
    ? list.map((one) => (typeof one === 'object' && one !== null ? showComment(one as Data) : one))
    : list;
