/** The commits that may have brought an error, as an agent reads them: a line each. Pure. */
type Data = Readonly<Record<string, unknown>>;

/** Lines that are told. */
const MAX_SUSPECTS = 3;
const wordOf = (value: unknown, most: number): string => (typeof value === 'string' ? value.slice(0, most) : '');

/**
 * Only commits that touched a file of the trace: the others say nothing that the repository does not. Their words came
 * from whoever wrote them.
 */
export function formatSuspects(data: Data): Record<string, unknown> {
  const listed = Array.isArray(data['suspect_commits']) ? (data['suspect_commits'] as Data[]) : [];
  const suspects = listed.filter(({ touched }) => typeof touched === 'string').slice(0, MAX_SUSPECTS);
  if (suspects.length === 0) return {};
  const commits = suspects.map(({ id, author_name, message, touched }) =>
    [wordOf(id, 12), wordOf(touched, 120), wordOf(author_name, 40), wordOf(message, 120)].filter(Boolean).join(' · '),
  );
  return { suspects: { commits, untrusted_fields: ['commits'] } };
}
