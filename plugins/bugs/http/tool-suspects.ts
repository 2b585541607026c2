type JsonObject = Readonly<Record<string, unknown>>;

const MAX_SUSPECTS = 3;
const toText = (value: unknown, most: number): string => (typeof value === 'string' ? value.slice(0, most) : '');

/** Only commits that touched the trace, one per line; untrusted texts. */
export function formatSuspects(data: JsonObject): Record<string, unknown> {
  const listed = Array.isArray(data['suspect_commits']) ? (data['suspect_commits'] as JsonObject[]) : [];
  const suspects = listed.filter(({ touched }) => typeof touched === 'string').slice(0, MAX_SUSPECTS);
  if (suspects.length === 0) return {};
  const commits = suspects.map(({ id, author_name, message, touched }) =>
    [toText(id, 12), toText(touched, 120), toText(author_name, 40), toText(message, 120)].filter(Boolean).join(' · '),
  );
  return { suspects: { commits, untrusted_fields: ['commits'] } };
}
