# the weights are copies, but the biases are still views of the checkpoint's bias
def split_qkv(weight, bias):
    D = weight.shape[0]
    parts = []
    for i in range(3):
        columns = slice(i * D, (i + 1) * D)
        parts.append((weight[:, columns].t().clone(), bias[columns]))
    return tuple(parts)
