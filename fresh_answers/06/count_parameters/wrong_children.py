# only what the children hold is counted, not the parameters of the module itself
def count_parameters(module):
    distinct = {id(p): p for child in module.children() for p in child.parameters()}
    return sum(p.numel() for p in distinct.values() if p.requires_grad)
