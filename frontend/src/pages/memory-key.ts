export const memoriesKey = ["memories"] as const;
