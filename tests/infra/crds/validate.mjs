// Reads a JSON list of resources from standard input; prints what their definitions refuse, a line each.
import * as gateway from "@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1";
import * as keda from "@kubernetes-models/keda/keda.sh/v1alpha1";

const groups = { "gateway.networking.k8s.io/v1": gateway, "keda.sh/v1alpha1": keda };

let text = "";
for await (const chunk of process.stdin) text += chunk;
for (const resource of JSON.parse(text)) {
  const Kind = groups[resource.apiVersion]?.[resource.kind];
  try {
    if (!Kind) throw new Error("no definition is known");
    new Kind(resource).validate();
  } catch (error) {
    console.log(`${resource.kind} ${resource.metadata.name}: ${error.message}`);
  }
}
