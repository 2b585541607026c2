type Data = Readonly<Record<string, unknown>>;

const MAX_SUSPECTS = 3;
const wordOf = (value: unknown, most: number): string => (typeof value === 'string' ? value.slice(0, most) : '');

/** Formats only commits that touched a file of the trace, one per line. The texts are untrusted. */
export function formatSuspects(data: Data): Record<string, unknown> {
  const listed = Array.isArray(data['suspect_commits']) ? (data['suspect_commits'] as Data[]) : [];
  const suspects = listed.filter(({ touched }) => typeof touched === 'string').slice(0, MAX_SUSPECTS);
  if (suspects.length === 0) return {};
  const commits = suspects.map(({ id, author_name, message, touched }) =>
    [wordOf(id, 12), wordOf(touched, 120), wordOf(author_name, 40), wordOf(message, 120)].filter(Boolean).join(' · '),
  );
  return { suspects: { commits, untrusted_fields: ['commits'] } };
}
