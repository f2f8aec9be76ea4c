// Reads JSON lists of resources, a line each, from standard input; prints for each what their
// definitions refuse, as a JSON list of sentences.
import { createInterface } from "node:readline";

import * as gateway from "@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1";
import * as keda from "@kubernetes-models/keda/keda.sh/v1alpha1";

const groups = { "gateway.networking.k8s.io/v1": gateway, "keda.sh/v1alpha1": keda };

function refusal(resource) {
  const Kind = groups[resource.apiVersion]?.[resource.kind];
  try {
    if (!Kind) throw new Error("no definition is known");
    new Kind(resource).validate();
    return [];
  } catch (error) {
    return [`${resource.kind} ${resource.metadata.name}: ${error.message}`];
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(JSON.parse(line).flatMap(refusal)));
}
