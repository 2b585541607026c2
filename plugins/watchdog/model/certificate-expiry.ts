/** Reported below the probe's limit, and again below each of these. */
const WARNING_LIMITS_DAYS = [7, 3, 1];

/**
 * Counts the limits above it.
 * @param warnDays 0 disables the report
 */
export const getCertificateLevel = (daysLeft: number, warnDays: number): number =>
  [warnDays, ...WARNING_LIMITS_DAYS.filter((days) => days < warnDays)].filter((days) => daysLeft < days && warnDays > 0)
    .length;

/**
 * A sentence without its full stop.
 * @param daysLeft whole days, negative when expired
 */
export function formatCertificateReason(daysLeft: number): string {
  if (daysLeft < 0) return 'The certificate has expired';
  if (daysLeft === 0) return 'The certificate expires within a day';
  return `The certificate expires in ${daysLeft} day${daysLeft === 1 ? '' : 's'}`;
}
